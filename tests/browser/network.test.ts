// The map of a network: what it shows is what was recorded.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { eventually, open, points, screenshot } from './browser.ts';
import { demoLog, pageLog, Server } from './sonde.ts';

const kSteps = 100;
const server = await Server.start(pageLog('network', 4, kSteps));

const map = (page: Page): Locator => page.locator('.net-map canvas').first();

// The map once all of its tiles are there.
async function drawn(page: Page): Promise<Locator> {
  await eventually(async () => (await page.locator('.net-map canvas[data-complete=yes]').count()) > 0, 'a complete map');
  return map(page);
}

interface Grid {
  x: number;
  y: number;
  width: number;
  rowHeight: number;
  lo: number;
  hi: number;
  rows: number;
}

async function gridOf(canvas: Locator): Promise<Grid> {
  const box = (await canvas.boundingBox())!;
  const [left, top, rowHeight, rows] = await Promise.all(
    ['data-left', 'data-top', 'data-row-height', 'data-rows'].map(async (name) => Number(await canvas.getAttribute(name))),
  );
  const [lo, hi] = (await canvas.getAttribute('data-steps'))!.split(',').map(Number);
  return { x: box.x + left!, y: box.y + top!, width: box.width - left!, rowHeight: rowHeight!, lo: lo!, hi: hi!, rows: rows! };
}

const placeOf = (grid: Grid, row: number, step: number): [number, number] => [
  grid.x + ((step + 0.5 - grid.lo) / (grid.hi - grid.lo)) * grid.width,
  grid.y + (row + 0.5) * grid.rowHeight,
];

async function colourAt(canvas: Locator, row: number, step: number): Promise<string> {
  const grid = await gridOf(canvas);
  const box = (await canvas.boundingBox())!;
  const [x, y] = placeOf(grid, row, step);
  return canvas.evaluate(
    (element, [px, py]) => {
      const own = element as HTMLCanvasElement;
      const copy = new OffscreenCanvas(own.width, own.height).getContext('2d', { willReadFrequently: true })!;
      copy.drawImage(own, 0, 0);
      const scale = own.width / own.getBoundingClientRect().width;
      const [r, g, b] = copy.getImageData(Math.floor(px! * scale), Math.floor(py! * scale), 1, 1).data;
      return `${r},${g},${b}`;
    },
    [x - box.x, y - box.y],
  );
}

const kNan = '255,107,154'; // --nan and --inf of the dark theme
const kInf = '255,138,61';

interface Probe {
  tag: string;
  kind: string;
}
const probesOf = (page: Page, run: string): Promise<Probe[]> =>
  page.evaluate(async (name) => ((await (await fetch(`api/probes?run=${name}`)).json()) as { probes: Probe[] }).probes, run);

interface Recorded {
  steps: number[];
  mean: number[];
  std: number[];
  min: number[];
  max: number[];
  count: number[];
  zeros: number[];
  sum_abs: number[];
}
const recordedOf = (page: Page, run: string, tag: string, step: number): Promise<Recorded> =>
  page.evaluate(
    async (address) => (await (await fetch(address)).json()) as Recorded,
    `api/statistics?run=${run}&tag=${encodeURIComponent(tag)}&first=${step}&last=${step}`,
  );

async function tipAt(page: Page, canvas: Locator, row: number, step: number): Promise<Locator> {
  const [x, y] = placeOf(await gridOf(canvas), row, step);
  await page.mouse.move(x, y);
  const tip = page.getByRole('tooltip');
  await eventually(async () => (await tip.getAttribute('data-step')) !== null, 'numbers of the server');
  return tip;
}

test('layers are rows in the order of execution', async (t) => {
  const page = await open(t, server, { at: 'network' });
  const canvas = await drawn(page);
  const wanted = (await probesOf(page, 'base')).filter((probe) => probe.kind === 'activation').map((probe) => probe.tag.replace('activation/', ''));
  assert.equal((await gridOf(canvas)).rows, wanted.length);
  assert.deepEqual(await page.locator('.net-name').allInnerTexts(), wanted);
  await screenshot(page, 'network');
});

for (const [id, of] of [
  ['rms', (one: Recorded) => Math.hypot(one.mean[0]!, one.std[0]!)],
  ['mean_abs', (one: Recorded) => one.sum_abs[0]! / one.count[0]!],
  ['peak_factor', (one: Recorded) => Math.max(Math.abs(one.min[0]!), Math.abs(one.max[0]!)) / Math.hypot(one.mean[0]!, one.std[0]!)],
  ['zero_fraction', (one: Recorded) => one.zeros[0]! / one.count[0]!],
  ['f16_range', (one: Recorded) => Math.max(Math.abs(one.min[0]!), Math.abs(one.max[0]!)) / 65504],
] as const) {
  test(`the pointer reads ${id} as it was recorded at that step and layer`, async (t) => {
    const page = await open(t, server, { at: `network?nstat=${id}` });
    const canvas = await drawn(page);
    const tags = (await probesOf(page, 'base')).filter((probe) => probe.kind === 'activation').map((probe) => probe.tag);
    for (const [row, step] of [[0, 0], [3, 17], [2, 80], [5, 99]] as const) {
      const tip = await tipAt(page, canvas, row, step);
      await eventually(async () => (await tip.getAttribute('data-tag')) === tags[row] && Number(await tip.getAttribute('data-step')) === step, 'the tip of that cell');
      const wanted = of(await recordedOf(page, 'base', tags[row]!, step));
      const shown = Number(await tip.getAttribute('data-value'));
      assert.ok(Math.abs(shown - wanted) <= 1e-6 * Math.abs(wanted), `${tags[row]} at ${step}: ${shown} and ${wanted}`);
      const text = (await tip.innerText()).replaceAll('−', '-').replaceAll(',', '');
      const numbers = [...text.matchAll(/-?\d+(\.\d+)?(e-?\d+)?/g)].map(([one]) => Number(one));
      assert.ok(numbers.some((one) => Math.abs(one - wanted) <= 1e-5 * Math.abs(wanted) + 1e-12), `${wanted} in: ${text}`);
    }
  });
}

test('ratios are those of the recorded tensors', async (t) => {
  const page = await open(t, server, { at: 'network?nkind=weight&nstat=update_ratio' });
  const canvas = await drawn(page);
  const rms = async (tag: string) => {
    const one = await recordedOf(page, 'base', tag, 42);
    return Math.hypot(one.mean[0]!, one.std[0]!);
  };
  const tip = await tipAt(page, canvas, 1, 42);
  await eventually(async () => (await tip.getAttribute('data-step')) === '42', 'the tip of step 42');
  const name = (await tip.getAttribute('data-tag'))!.replace('weight/', '');
  const wanted = (await rms(`update/${name}`)) / (await rms(`weight/${name}`));
  assert.ok(Math.abs(Number(await tip.getAttribute('data-value')) / wanted - 1) < 1e-6);
});

test('NaN and Inf have their own colours', async (t) => {
  const page = await open(t, server, { at: 'network?step=0' });
  const canvas = await drawn(page);
  assert.equal(await colourAt(canvas, 7, 80), kNan);
  assert.equal(await colourAt(canvas, 7, 60), kInf);
  assert.notEqual(await colourAt(canvas, 7, 50), kNan);
  assert.notEqual(await colourAt(canvas, 6, 80), kNan);
});

test('one step that is not finite is seen among thousands', async (t) => {
  const long = await Server.start(pageLog('network', 2, 5000));
  const page = await open(t, long, { at: 'network?step=0&nspikes=0' });
  const canvas = await drawn(page);
  assert.ok(Number(await canvas.getAttribute('data-level')) >= 2, 'a cell has several steps');
  assert.equal(await colourAt(canvas, 3, 3000), kInf);
  assert.equal(await colourAt(canvas, 3, 4900), kNan);
  assert.notEqual(await colourAt(canvas, 3, 2800), kInf);
});

test('each row against its own past: the spike comes first', async (t) => {
  const page = await open(t, server, { at: 'network?nsort=spikes&nagainst=past' });
  await drawn(page);
  await eventually(async () => (await page.locator('.net-name').first().innerText()) === 'block_01/attention/out', 'the row with the spike on top');
  await screenshot(page, 'network-past');
});

test('a click opens the tensor at that step, a second click leads on', async (t) => {
  const page = await open(t, server, { at: 'network' });
  const canvas = await drawn(page);
  const [x, y] = placeOf(await gridOf(canvas), 2, 33);
  await page.mouse.click(x, y);
  const panel = page.getByRole('complementary', { name: 'Tensor' });
  await panel.locator('.net-numbers[data-step="33"]').waitFor();
  const recorded = await recordedOf(page, 'base', 'activation/block_01/attention/out', 33);
  const text = (await panel.innerText()).replaceAll('−', '-');
  assert.ok(text.includes('block_01/attention/out'));
  assert.ok(text.includes(String(Number(recorded.max[0]!.toPrecision(6)))), `${recorded.max[0]} in ${text}`);
  assert.match(page.url(), /step=33/);
  assert.match(decodeURIComponent(page.url()), /layer=activation\/block_01\/attention\/out/);
  await panel.locator('[data-chart][data-ready]').waitFor();
  await screenshot(page, 'network-tensor');
  const again = placeOf(await gridOf(canvas), 2, 33);
  await page.mouse.click(...again);
  await eventually(async () => !page.url().includes('#/network'), 'another view');
  assert.match(decodeURIComponent(page.url()), /#\/(graph|tensor|metrics).*block_01\/attention\/out/);
});

test('the keyboard moves the cell cursor, zooms and opens', async (t) => {
  const page = await open(t, server, { at: 'network?step=50&layer=activation/block_00/mlp/out' });
  const canvas = await drawn(page);
  await canvas.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await eventually(async () => /layer=activation\/block_01\/attention\/out/.test(decodeURIComponent(page.url())) && /step=52/.test(page.url()), 'the next row and step');
  const status = page.locator('.net-tip-here');
  await eventually(async () => (await status.getAttribute('data-step')) === '52', 'its numbers');
  await page.keyboard.press('+');
  await eventually(async () => /nsteps=/.test(page.url()), 'fewer steps');
  await page.keyboard.press('0');
  await eventually(async () => !/nsteps=/.test(page.url()), 'all steps');
  await page.keyboard.press('Enter');
  await eventually(async () => !page.url().includes('#/network'), 'the tensor');
});

test('the map is dragged and zoomed, and a link shows the same part', async (t) => {
  const page = await open(t, server, { at: 'network?nsteps=20~60' });
  const canvas = await drawn(page);
  let grid = await gridOf(canvas);
  assert.deepEqual([grid.lo, grid.hi], [20, 60]);
  await page.mouse.move(grid.x + grid.width / 2, grid.y + 40);
  await page.mouse.down();
  await page.mouse.move(grid.x + grid.width / 4, grid.y + 40, { steps: 5 });
  await page.mouse.up();
  await eventually(async () => Math.abs((await gridOf(canvas)).lo - 30) < 0.2, 'ten steps later');
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await eventually(async () => {
    grid = await gridOf(canvas);
    return grid.hi - grid.lo < 20;
  }, 'fewer steps');
  await eventually(async () => decodeURIComponent(page.url()).includes(`nsteps=${Number(grid.lo.toFixed(2))}`), 'the place in the address');
  await page.reload();
  const again = await gridOf(await drawn(page));
  assert.ok(Math.abs(again.lo - grid.lo) < 0.02 && Math.abs(again.hi - grid.hi) < 0.02);
});

test('modules pool their tensors, name the worst one, and open', async (t) => {
  const page = await open(t, server, { at: 'network?ngroup=1' });
  const canvas = await drawn(page);
  assert.equal((await gridOf(canvas)).rows, 4);
  assert.equal(await colourAt(canvas, 3, 90), kNan, 'a NaN of a member is the module’s');
  const tip = await tipAt(page, canvas, 1, 80);
  await eventually(async () => /worst\s+block_01\/attention\/out/.test(await tip.innerText()), 'the member with the spike');
  const members = ['activation/block_01/attention/out', 'activation/block_01/mlp/out'];
  const squares = await Promise.all(
    members.map(async (tag) => {
      const one = await recordedOf(page, 'base', tag, 80);
      return one.mean[0]! ** 2 + one.std[0]! ** 2;
    }),
  );
  const wanted = Math.sqrt((squares[0]! + squares[1]!) / 2); // equal numbers of elements
  assert.ok((await tip.innerText()).replaceAll(',', '').includes(String(Number(wanted.toPrecision(6)))), `${wanted} in ${await tip.innerText()}`);
  await page.getByRole('button', { name: /block_01/ }).click();
  await eventually(async () => (await gridOf(canvas)).rows === 6, 'its two members');
  await screenshot(page, 'network-modules');
});

test('two runs side by side, their difference, and where they part', async (t) => {
  const page = await open(t, server, { at: 'network?nrun=base&nwith=fork' });
  await drawn(page);
  await eventually(async () => (await page.locator('.net-map canvas[data-complete=yes]').count()) === 2, 'two maps');
  const parting = page.locator('[data-parting]');
  await parting.waitFor();
  assert.equal(await parting.getAttribute('data-parting'), `${kSteps / 2} activation/block_01/mlp/out`);
  await page.getByRole('group', { name: 'Against' }).getByRole('button', { name: 'Difference' }).click();
  await eventually(async () => (await page.locator('.net-map canvas').count()) === 1, 'one map of the difference');
  const canvas = await drawn(page);
  const before = await colourAt(canvas, 3, 20);
  assert.equal(await colourAt(canvas, 0, 20), before, 'no difference has one colour');
  await eventually(async () => (await colourAt(canvas, 3, 90)) !== before, 'the difference after half of the steps');
  await parting.click();
  await eventually(async () => /step=50/.test(page.url()), 'the step in the address');
  await screenshot(page, 'network-difference');
});

test('a filter leaves the layers that match', async (t) => {
  const page = await open(t, server, { at: 'network?tags=attention' });
  const canvas = await drawn(page);
  assert.equal((await gridOf(canvas)).rows, 4);
  await page.getByRole('searchbox', { name: /filter tags/i }).fill('nothing-like-this');
  await page.getByRole('heading', { name: 'No layer to show' }).waitFor();
});

test('every statistic of every tensor is a line in Metrics', async (t) => {
  const page = await open(t, server, { at: 'metrics?stats=stat:rms:activation/block_00/attention/out,stat:update_ratio:weight/block_00/mlp/kernel' });
  for (const tag of ['stat:rms:activation/block_00/attention/out', 'stat:update_ratio:weight/block_00/mlp/kernel']) {
    const card = page.locator(`[data-card=${JSON.stringify(`metrics:${tag}`)}]`);
    await card.locator('[data-chart][data-ready]').waitFor({ state: 'attached' });
    assert.equal(await points(card.locator('[data-chart]')), 2 * kSteps, 'both runs');
  }
  await screenshot(page, 'network-lines');
});

test('captures and first NaN are marked, and lead to their step', async (t) => {
  const broken = await Server.start(demoLog('--fault', 'nan'));
  const page = await open(t, broken, { at: 'network' });
  await drawn(page);
  await page.locator('.net-mark-capture').first().waitFor();
  await screenshot(page, 'network-capture');
  const mark = page.locator('.net-mark-bad').first();
  const step = Number(/@ ([\d,]+)/.exec(await mark.innerText())![1]!.replaceAll(',', ''));
  await mark.click();
  await eventually(async () => new RegExp(`step=${step}(&|$)`).test(page.url()), 'the step in the address');
});

test('in the light theme the map is as clear', async (t) => {
  const page = await open(t, server, { at: 'network', colorScheme: 'light' });
  const canvas = await drawn(page);
  assert.equal(await colourAt(canvas, 7, 80), '194,24,91');
  await screenshot(page, 'network-light');
});

test('a log without statistics shows how to record them', async (t) => {
  const plain = await Server.start(pageLog('trials'));
  const page = await open(t, plain, { at: 'network' });
  await page.getByRole('heading', { name: /No statistics of layers/ }).waitFor();
  assert.match(await page.getByRole('main').innerText(), /sonde\.watch\(model/);
  await screenshot(page, 'network-empty');
});

test('one step, NaN only and names of 10,000 bytes are shown', async (t) => {
  const odd = await Server.start(pageLog('oddities'));
  for (const run of ['single', 'bad', 'long']) {
    const page = await open(t, odd, { at: `network?nrun=${run}` });
    const canvas = await drawn(page);
    assert.equal((await gridOf(canvas)).rows, 1, run);
    if (run === 'bad') assert.equal(await colourAt(canvas, 0, 10), kNan);
    const tip = await tipAt(page, canvas, 0, 0);
    assert.equal(await tip.getAttribute('data-step'), '0', run);
    assert.ok(((await tip.boundingBox())?.width ?? 0) < 600);
    for (const against of ['past', 'absolute']) {
      await page.goto(page.url().replace(/&nagainst=\w+/, '') + `&nagainst=${against}`);
      await drawn(page);
    }
  }
});

test('a run that is removed while it is shown leaves the page usable', async (t) => {
  const folder = pageLog('network', 2, 20);
  const own = await Server.start(folder);
  const page = await open(t, own, { at: 'network?nrun=fork', expected: [/404/, /409/] });
  await drawn(page);
  rmSync(join(folder, 'fork'), { recursive: true });
  await eventually(async () => /base/.test(await page.locator('.net-head h2').first().innerText()), 'the run that is left');
  await drawn(page);
});
