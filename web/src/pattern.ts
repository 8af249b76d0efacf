// Filters that cannot hang the page: the common part of RE2's syntax, matched in linear time (the browser's RegExp may
// take forever on `(a+)+b`). Unanchored. A lower-case pattern matches either case.
import { type Node, parse } from './pattern_parse';

export interface Pattern {
  error: string | null; // the error; the pattern is then taken literally
  test(text: string): boolean;
}

type Op =
  | { op: 'set'; has: (c: number) => boolean; next: number }
  | { op: 'split'; a: number; b: number }
  | { op: 'at'; what: 'start' | 'end' | 'word' | 'inside'; next: number }
  | { op: 'match' };

const kMostOps = 4000;

class Compiler {
  readonly ops: Op[] = [];
  private add(op: Op): number {
    if (this.ops.length >= kMostOps) throw new Error('the pattern is too large');
    return this.ops.push(op) - 1;
  }
  // Built from the end: `next` is where a match of `node` continues. Returns where it starts.
  build(node: Node, next: number): number {
    switch (node.type) {
      case 'empty':
        return next;
      case 'set':
        return this.add({ op: 'set', has: node.has, next });
      case 'at':
        return this.add({ op: 'at', what: node.what, next });
      case 'cat':
        return node.items.reduceRight((then, item) => this.build(item, then), next);
      case 'alt':
        return node.items.map((item) => this.build(item, next)).reduceRight((b, a) => this.add({ op: 'split', a, b }));
      case 'repeat':
        return this.repeat(node.item, node.least, node.most, next);
    }
  }
  private repeat(item: Node, least: number, most: number, next: number): number {
    let begin = next;
    if (most === Infinity) {
      const split: Op = { op: 'split', a: 0, b: next };
      begin = this.add(split);
      split.a = this.build(item, begin);
    } else {
      for (let i = least; i < most; ++i) begin = this.add({ op: 'split', a: this.build(item, begin), b: next });
    }
    for (let i = 0; i < least; ++i) begin = this.build(item, begin);
    return begin;
  }
  match(): number {
    return this.add({ op: 'match' });
  }
}

const isWord = (c: number) => (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || c === 95 || (c >= 97 && c <= 122);

function matcher(ops: Op[], start: number): (text: string) => boolean {
  const seen = new Uint32Array(ops.length); // by generation, so that nothing needs clearing
  let generation = 0;
  let now: number[] = [];
  let then: number[] = [];
  const stack: number[] = [];

  // Follows operations that consume no character; true: the pattern matches.
  function enter(text: string, at: number, from: number, into: number[]): boolean {
    stack.push(from);
    while (stack.length > 0) {
      const pc = stack.pop() as number;
      if (seen[pc] === generation) continue;
      seen[pc] = generation;
      const op = ops[pc] as Op;
      if (op.op === 'match') {
        stack.length = 0;
        return true;
      }
      if (op.op === 'set') into.push(pc);
      else if (op.op === 'split') stack.push(op.a, op.b);
      else {
        const before = at > 0 && isWord(text.charCodeAt(at - 1));
        const after = at < text.length && isWord(text.charCodeAt(at));
        const edge = before !== after;
        const holds = { start: at === 0, end: at === text.length, word: edge, inside: !edge };
        if (holds[op.what]) stack.push(op.next);
      }
    }
    return false;
  }

  return (text) => {
    now.length = 0;
    for (let at = 0; ; ++at) {
      // `now` has already been entered for this position: the same generation adds a match that starts here.
      if (at === 0) ++generation;
      if (enter(text, at, start, now)) return true;
      if (at >= text.length) return false;
      const c = text.charCodeAt(at);
      ++generation;
      then.length = 0;
      for (const pc of now) {
        const op = ops[pc] as Op;
        if (op.op === 'set' && op.has(c) && enter(text, at + 1, op.next, then)) return true;
      }
      [now, then] = [then, now];
    }
  };
}

function literal(pattern: string, fold: boolean): (text: string) => boolean {
  return fold ? (text) => text.toLowerCase().includes(pattern) : (text) => text.includes(pattern);
}

export function compile(pattern: string): Pattern {
  if (pattern === '') return { error: null, test: () => true };
  // Escapes such as \W do not count as capital letters.
  const fold = !/[A-Z]/.test(pattern.replace(/\\./g, ''));
  if (!/[\\^$.[\]|()?*+{}]/.test(pattern)) return { error: null, test: literal(pattern, fold) };
  try {
    const compiler = new Compiler();
    let parsed = parse(pattern);
    if (parsed.fold) parsed = parse(pattern.replace(/\\.|[A-Z]/g, (c) => (c.length > 1 ? c : c.toLowerCase())));
    const start = compiler.build(parsed.node, compiler.match());
    const test = matcher(compiler.ops, start);
    return { error: null, test: fold || parsed.fold ? (text) => test(text.toLowerCase()) : test };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), test: literal(pattern, fold) };
  }
}
