// Logs of the real writers, not only ours: every one opens, and every series shows as many points as were written.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chart, eventually, open, points, runNames, screenshot } from './browser.ts';
import { goldenLog, Server } from './sonde.ts';

interface Golden {
  runs: string[];
  scalars: Record<string, number>; // points over all runs
  histograms: string[];
}

const logs: Record<string, Golden> = {
  torch: {
    runs: ['.', 'graph', 'nested/deep/run', 'restarted', 'resumed', 'train', 'train/group_a', 'train/group_b', 'train/trial'],
    scalars: { 'loss/train': 72, 'loss/eval': 40, 'special values': 7, 'at the root': 5, 'new style': 10, group: 4 },
    histograms: ['weights', 'constant', 'weights/auto'],
  },
  tensorboardx: {
    runs: ['.', 'graph', 'train', 'train/group/a', 'train/group/b', 'train/trial'],
    scalars: { 'loss/train': 40, special_values: 7, at_the_root: 1, group: 4 },
    histograms: ['weights', 'constant', 'weights/auto'],
  },
  tensorflow: {
    runs: ['.', 'traced', 'train', 'trials/0', 'trials/1'],
    scalars: { 'loss/train': 40, 'loss/eval': 40, accuracy: 2 },
    histograms: ['weights'],
  },
  tensorflow_v1: { runs: ['by_hand', 'old'], scalars: { accuracy: 20, loss: 5, x: 1 }, histograms: ['weights', 'empty'] },
  keras: {
    runs: ['train', 'validation'],
    scalars: { epoch_loss: 8, epoch_learning_rate: 4, evaluation_loss_vs_iterations: 4 },
    histograms: ['sequential/hidden/kernel/histogram'],
  },
};

for (const [writer, holds] of Object.entries(logs)) {
  test(`the log of ${writer} shows every run and every point`, async (t) => {
    const server = await Server.start(goldenLog(writer));
    const page = await open(t, server, { at: 'metrics', viewport: { width: 1280, height: 2000 } });
    await eventually(async () => (await runNames(page)).length === holds.runs.length, 'all runs in the list');
    assert.deepEqual((await runNames(page)).sort(), [...holds.runs].sort());
    for (const [tag, wanted] of Object.entries(holds.scalars)) {
      const found = await chart(page, tag);
      assert.equal(await points(found), wanted, tag);
    }
    await screenshot(page, `golden-${writer}`);
  });

  test(`the log of ${writer} shows its histograms`, async (t) => {
    const server = await Server.start(goldenLog(writer));
    const page = await open(t, server, { at: 'distributions', viewport: { width: 1280, height: 2000 } });
    for (const tag of holds.histograms) assert.ok((await points(await chart(page, tag))) > 0, tag);
  });
}
