// Answers for a moving pointer: one question is open at a time, and the newest is asked next. Known answers are shown
// at once; until a new one arrives, the last one stays.
import type { TableRow } from '../api_types';
import type { Question } from './tooltip';

export interface Exact {
  question: Question;
  rows: readonly TableRow[];
  error: string | null;
}

const kMost = 400; // cached answers

export class ExactValues {
  private readonly known = new Map<string, Exact>();
  private wanted: Question | null = null;
  private busy = false;
  private version = 0;

  constructor(
    private readonly ask: (question: Question) => Promise<readonly TableRow[]>,
    private readonly done: (exact: Exact) => void,
  ) {}

  // Null: the pointer has left.
  want(question: Question | null): void {
    this.wanted = question;
    const found = question && this.known.get(question.key);
    if (found) this.done(found);
    else if (question && !this.busy) void this.next(question);
  }

  // The data has changed.
  clear(): void {
    ++this.version;
    this.known.clear();
  }

  private async next(question: Question): Promise<void> {
    this.busy = true;
    const { version } = this;
    const exact = await this.ask(question).then(
      (rows): Exact => ({ question, rows, error: null }),
      (error: unknown): Exact => ({ question, rows: [], error: error instanceof Error ? error.message : String(error) }),
    );
    this.busy = false;
    if (version === this.version && exact.error === null) {
      this.known.set(question.key, exact);
      for (const key of this.known.keys()) if (this.known.size > kMost) this.known.delete(key);
    }
    if (this.wanted === null) return;
    this.done(exact);
    if (this.wanted.key !== question.key || version !== this.version) this.want(this.wanted);
  }
}
