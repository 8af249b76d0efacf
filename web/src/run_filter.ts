// The filter of runs: conditions on hyper-parameters, such as `lr>=0.001 optimizer=adam`, and a pattern for the name.
import type { Run } from './api_types';
import { type Pattern, compile } from './pattern';

type Operator = '<=' | '>=' | '!=' | '=' | '<' | '>';

interface Condition {
  name: string;
  operator: Operator;
  value: string;
}

const kCondition = /^([^<>=!\s]+)(<=|>=|!=|=|<|>)(\S+)$/;

// Only names of hyper-parameters begin a condition: names of runs have equals signs, too.
function parsed(filter: string, isHparam: (name: string) => boolean): { conditions: Condition[]; rest: string } {
  const conditions: Condition[] = [];
  const rest: string[] = [];
  for (const word of filter.split(/\s+/)) {
    const [, name, operator, value] = kCondition.exec(word) ?? [];
    if (name && operator && value && isHparam(name)) conditions.push({ name, operator: operator as Operator, value });
    else rest.push(word);
  }
  return { conditions, rest: conditions.length > 0 ? rest.filter(Boolean).join(' ') : filter };
}

function holds({ name, operator, value }: Condition, run: Run): boolean {
  const found = run.hparams[name];
  if (found === undefined) return false;
  const [a, b] = [Number(found), Number(value)];
  const numbers = typeof found === 'number' && Number.isFinite(b);
  const same = numbers ? a === b : String(found).toLowerCase() === value.toLowerCase();
  switch (operator) {
    case '=':
      return same;
    case '!=':
      return !same;
    case '<':
      return numbers && a < b;
    case '>':
      return numbers && a > b;
    case '<=':
      return numbers && a <= b;
    case '>=':
      return numbers && a >= b;
  }
}

export interface RunFilter {
  pattern: Pattern; // of what is left for the name
  test: (run: Run) => boolean;
}

export function compileRunFilter(filter: string, all: readonly Run[]): RunFilter {
  const { conditions, rest } = /[<>=]/.test(filter)
    ? parsed(filter, (name) => all.some((run) => run.hparams[name] !== undefined))
    : { conditions: [], rest: filter };
  const pattern = compile(rest);
  return { pattern, test: (run) => pattern.test(run.run) && conditions.every((one) => holds(one, run)) };
}
