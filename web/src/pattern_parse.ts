// Parses a pattern. RE2 features that are missing here (\p classes, flags except (?i)) are rejected with an error.

export type Node =
  | { type: 'empty' }
  | { type: 'set'; has: (c: number) => boolean }
  | { type: 'at'; what: 'start' | 'end' | 'word' | 'inside' }
  | { type: 'cat'; items: Node[] }
  | { type: 'alt'; items: Node[] }
  | { type: 'repeat'; item: Node; least: number; most: number };

type Has = (c: number) => boolean;

const kMostRepeats = 1000; // as RE2
const kDeepest = 200;

const code = (text: string) => text.charCodeAt(0);
const between =
  (a: string, b: string): Has =>
  (c) =>
    c >= code(a) && c <= code(b);
const digit = between('0', '9');
const word: Has = (c) => digit(c) || c === 95 || between('a', 'z')(c) || between('A', 'Z')(c);
const space: Has = (c) => c === 32 || (c >= 9 && c <= 13);
const not =
  (has: Has): Has =>
  (c) =>
    !has(c);
const kClasses: Record<string, Has> = { d: digit, D: not(digit), w: word, W: not(word), s: space, S: not(space) };
const kControls: Record<string, string> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', a: '\x07' };

class Parser {
  private at = 0;
  private depth = 0;
  fold = false;
  constructor(private readonly text: string) {}

  all(): Node {
    const node = this.alternatives();
    if (this.at < this.text.length) throw new Error('a ")" has no "("');
    return node;
  }

  private peek(): string {
    return this.text[this.at] ?? '';
  }
  private take(wanted: string): boolean {
    if (!this.text.startsWith(wanted, this.at)) return false;
    this.at += wanted.length;
    return true;
  }

  private alternatives(): Node {
    if (++this.depth > kDeepest) throw new Error('the pattern is nested too deeply');
    const items = [this.sequence()];
    while (this.take('|')) items.push(this.sequence());
    --this.depth;
    return items.length === 1 ? (items[0] as Node) : { type: 'alt', items };
  }

  private sequence(): Node {
    const items: Node[] = [];
    while (this.at < this.text.length && this.peek() !== '|' && this.peek() !== ')') items.push(this.repeated());
    return { type: 'cat', items };
  }

  private repeated(): Node {
    let node = this.atom();
    for (;;) {
      const limits = this.limits();
      if (limits === null) return node;
      this.take('?'); // lazy or not makes no difference to whether it matches
      const [least, most] = limits;
      if (least > kMostRepeats || (most !== Infinity && most > kMostRepeats) || most < least)
        throw new Error(`a repetition is out of range (at most ${kMostRepeats})`);
      node = { type: 'repeat', item: node, least, most };
    }
  }

  private limits(): [number, number] | null {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    const found = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.text.slice(this.at, this.at + 12));
    if (!found) return null;
    this.at += found[0].length;
    const least = Number(found[1]);
    return [least, found[2] === undefined ? least : found[3] === '' ? Infinity : Number(found[3])];
  }

  private atom(): Node {
    const c = this.peek();
    ++this.at;
    switch (c) {
      case '(':
        return this.group();
      case '[':
        return { type: 'set', has: this.set() };
      case '.':
        return { type: 'set', has: (one) => one !== 10 };
      case '^':
        return { type: 'at', what: 'start' };
      case '$':
        return { type: 'at', what: 'end' };
      case '*':
      case '+':
      case '?':
        throw new Error(`there is nothing to repeat before "${c}"`);
      case '\\':
        return this.escape();
      default:
        return this.character(c);
    }
  }

  private character(c: string): Node {
    const wanted = code(c);
    return { type: 'set', has: (one) => one === wanted };
  }

  private group(): Node {
    if (this.take('?i)')) {
      this.fold = true;
      return { type: 'empty' };
    }
    if (this.take('?:') || this.take('?i:')) {
      // Groups are not captured.
    } else if (this.peek() === '?') {
      const name = /^\?P?<\w+>/.exec(this.text.slice(this.at));
      if (!name) throw new Error('"(?" is not supported here');
      this.at += name[0].length;
    }
    const node = this.alternatives();
    if (!this.take(')')) throw new Error('a "(" has no ")"');
    return node;
  }

  private escape(): Node {
    const c = this.peek();
    ++this.at;
    const has = kClasses[c];
    if (has) return { type: 'set', has };
    if (c === 'b') return { type: 'at', what: 'word' };
    if (c === 'B') return { type: 'at', what: 'inside' };
    if (c === 'A') return { type: 'at', what: 'start' };
    if (c === 'z') return { type: 'at', what: 'end' };
    return this.character(this.escaped(c));
  }

  private escaped(c: string): string {
    if (c === '') throw new Error('the pattern ends with "\\"');
    if (c === 'x') {
      const hex = /^(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,4})\})/.exec(this.text.slice(this.at));
      if (!hex) throw new Error('"\\x" needs two hexadecimal digits');
      this.at += hex[0].length;
      return String.fromCharCode(parseInt(hex[1] ?? hex[2] ?? '', 16));
    }
    const control = kControls[c];
    if (control) return control;
    if (/[a-zA-Z0-9]/.test(c)) throw new Error(`"\\${c}" is not supported here`);
    return c;
  }

  private set(): Has {
    const negated = this.take('^');
    const parts: Has[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.at >= this.text.length) throw new Error('a "[" has no "]"');
      const low = this.member();
      if (typeof low === 'function') {
        parts.push(low);
        continue;
      }
      if (this.peek() === '-' && this.text[this.at + 1] !== ']' && this.at + 1 < this.text.length) {
        ++this.at;
        const high = this.member();
        if (typeof high === 'function' || high < low) throw new Error('a range in "[ ]" is reversed');
        parts.push(between(low, high));
      } else {
        parts.push((c) => c === code(low));
      }
    }
    ++this.at;
    return (c) => parts.some((has) => has(c)) !== negated;
  }

  private member(): string | Has {
    const c = this.peek();
    ++this.at;
    if (c !== '\\') return c;
    const e = this.peek();
    ++this.at;
    return kClasses[e] ?? this.escaped(e);
  }
}

export function parse(text: string): { node: Node; fold: boolean } {
  const parser = new Parser(text);
  const node = parser.all();
  return { node, fold: parser.fold };
}
