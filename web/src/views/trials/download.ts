// Trials as a file. Pure.
import type { Cell, Column } from './columns';

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
const plain = (cell: Cell): string => (cell === null ? '' : String(cell));

export function csvOf(names: readonly string[], columns: readonly Column[], rows: readonly number[]): string {
  const lines = rows.map((row) => [names[row] ?? '', ...columns.map((column) => plain(column.cells[row] ?? null))]);
  return [['run', ...columns.map((column) => column.name)], ...lines].map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
}

// NaN and infinities as strings, as everywhere in the API.
const jsonCell = (cell: Cell): Cell => (typeof cell === 'number' && !Number.isFinite(cell) ? String(cell) : cell);

export function jsonOf(names: readonly string[], columns: readonly Column[], rows: readonly number[]): string {
  const part = (row: number, metric: boolean) =>
    Object.fromEntries(columns.filter((column) => column.metric === metric).map((column) => [column.name, jsonCell(column.cells[row] ?? null)]));
  return `${JSON.stringify(rows.map((row) => ({ run: names[row], hparams: part(row, false), metrics: part(row, true) })), null, 1)}\n`;
}

const kLatex: Record<string, string> = { '\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}' };
const latex = (text: string): string => text.replace(/[\\~^]|[&%$#_{}]/g, (c) => kLatex[c] ?? `\\${c}`);

export function latexOf(names: readonly string[], columns: readonly Column[], rows: readonly number[]): string {
  const line = (cells: string[]) => `${cells.map(latex).join(' & ')} \\\\\n`;
  const body = rows.map((row) => line([names[row] ?? '', ...columns.map((column) => plain(column.cells[row] ?? null))])).join('');
  const kinds = columns.map((column) => (column.text ? 'l' : 'r')).join('');
  return `\\begin{tabular}{l${kinds}}\n\\hline\n${line(['run', ...columns.map((column) => column.name)])}\\hline\n${body}\\hline\n\\end{tabular}\n`;
}
