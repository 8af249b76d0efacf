// The order in which people expect names: by text, and numbers by value. "lr0.001" comes before "lr0.1", "1e-4" before
// "0.001", and "layer3.9.conv" before "layer3.10.conv". Different names are never equal.

// A number, or several with points between them, which may be a version or the path of a module.
const kNumber = /\d+(?:\.\d+)*(?:e[+-]?\d+(?![0-9a-z]))?/gi;

// One digit string for each number, all of the same length: as text they sort like the numbers.
function sortable(number: string): string {
  const value = Number(number);
  if (value === 0) return '0'.repeat(20);
  if (!Number.isFinite(value)) return '9'.repeat(20);
  const [mantissa = '', exponent = ''] = value.toExponential(16).split('e');
  return String(500 + Number(exponent)) + mantissa.replace('.', '');
}

function isDecimal(number: string, before: string | undefined, after: string): boolean {
  const points = number.split('.').length - 1;
  if (points === 0) return true;
  return points === 1 && before !== '.' && (number.startsWith('0.') || !/^\.\w/.test(after));
}

function keyOf(name: string): string {
  return name.replace(kNumber, (number, at: number) =>
    isDecimal(number, name[at - 1], name.slice(at + number.length, at + number.length + 2))
      ? sortable(number)
      : number.split('.').map(sortable).join('.'),
  );
}

const kMostKept = 50_000;
const kept = new Map<string, string>(); // sorting needs the same ones repeatedly

function keptKeyOf(name: string): string {
  let key = kept.get(name);
  if (key === undefined) {
    key = keyOf(name);
    if (kept.size >= kMostKept) kept.clear();
    kept.set(name, key);
  }
  return key;
}

// The parts of paths that differ: those at the beginning and at the end that all of them share are left out, also where
// they have different numbers of parts. A single name stays whole.
export function partsThatDiffer(names: readonly string[]): string[] {
  if (names.length < 2) return [...names];
  const parts = names.map((name) => name.split('/'));
  const shortest = Math.min(...parts.map((one) => one.length));
  const first = parts[0] ?? [];
  let head = 0;
  while (head < shortest - 1 && parts.every((one) => one[head] === first[head])) ++head;
  let tail = 0;
  while (tail < shortest - 1 - head && parts.every((one) => one[one.length - 1 - tail] === first[first.length - 1 - tail])) ++tail;
  return parts.map((one) => one.slice(head, one.length - tail).join('/'));
}

const collator = new Intl.Collator('en');

export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return collator.compare(keptKeyOf(a), keptKeyOf(b)) || (a < b ? -1 : 1);
}
