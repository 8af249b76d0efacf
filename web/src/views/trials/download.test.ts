import { expect, it } from 'vitest';

import type { Column } from './columns';
import { csvOf, jsonOf, latexOf } from './download';

const names = ['a/0', 'b,"1"'];
const columns: Column[] = [
  { id: 'h:lr', name: 'lr', metric: false, text: false, cells: [0.1, 1e-5] },
  { id: 'h:opt', name: 'opt', metric: false, text: true, cells: ['x_y & z', null] },
  { id: 'm:loss', name: 'loss', metric: true, text: false, cells: [NaN, 0.25] },
];

it('CSV quotes what needs it, and leaves empty what is missing', () => {
  expect(csvOf(names, columns, [1, 0])).toBe('run,lr,opt,loss\r\n"b,""1""",0.00001,,0.25\r\na/0,0.1,x_y & z,NaN\r\n');
});

it('JSON tells hyper-parameters from metrics', () => {
  expect(JSON.parse(jsonOf(names, columns, [0, 1]))).toEqual([
    { run: 'a/0', hparams: { lr: 0.1, opt: 'x_y & z' }, metrics: { loss: 'NaN' } },
    { run: 'b,"1"', hparams: { lr: 0.00001, opt: null }, metrics: { loss: 0.25 } },
  ]);
});

it('LaTeX escapes what it would take for its own', () => {
  expect(latexOf(names, columns, [0])).toBe(
    '\\begin{tabular}{lrlr}\n\\hline\nrun & lr & opt & loss \\\\\n\\hline\na/0 & 0.1 & x\\_y \\& z & NaN \\\\\n\\hline\n\\end{tabular}\n',
  );
});
