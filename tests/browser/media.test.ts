// Images, sounds and text: every recorded step, in step with the rest of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, inkOf, open, points, screenshot } from './browser.ts';
import { demoLog, goldenLog, pageLog, Server } from './sonde.ts';

const media = await Server.start(pageLog('media'));
const demo = await Server.start(demoLog());

const cursor = async (page: Page) => Number(await page.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuenow'));
const image = (card: Locator) => card.locator('canvas').first();

// The colour in the middle of the image that is shown: its red is six times the number of the step.
const red = (card: Locator) =>
  image(card).evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
    copy.drawImage(canvas, canvas.width >> 1, canvas.height >> 1, 1, 1, 0, 0, 1, 1);
    return copy.getImageData(0, 0, 1, 1).data[0]!;
  });

test('every recorded image can be reached, and the step cursor with it', async (t) => {
  const page = await open(t, media, { at: 'media' });
  const card = await chart(page, 'samples/square');
  assert.equal(await points(card), 40);
  const slider = card.getByRole('slider', { name: 'Step of samples/square' });
  for (const index of [0, 17, 39]) {
    await slider.fill(`${index}`);
    await eventually(async () => (await red(card)) === index * 6, `image ${index}`);
    assert.equal(await cursor(page), index * 10);
  }
  await screenshot(page, 'media');
});

test('the global cursor moves all images, each to its own nearest step', async (t) => {
  const page = await open(t, media, { at: 'media?step=0' });
  const square = await chart(page, 'samples/square');
  const rarer = await chart(page, 'samples/rarer');
  const step = page.getByRole('textbox', { name: 'Step' });
  await step.fill('37');
  await step.press('Enter');
  await eventually(async () => (await red(square)) === 3 * 6, 'the image of step 30');
  await eventually(async () => (await red(rarer)) === 2 * 6, 'the image of step 20');
  await card(square, /30/).waitFor();
  await card(rarer, /20/).waitFor();
});

const card = (of: Locator, step: RegExp) => of.getByRole('button', { name: new RegExp(`Step ${step.source}\\. Recorded .* before the cursor`) });

test('zooming shows single pixels and their values', async (t) => {
  const page = await open(t, media, { at: 'media?step=100' });
  const square = await chart(page, 'samples/square');
  const canvas = square.getByRole('img', { name: /samples\/square of train at step 100/ });
  const fitted = await (await canvas.elementHandle())!.screenshot();
  await canvas.click();
  for (let i = 0; i < 4; ++i) await page.keyboard.press('+');
  await eventually(async () => !(await canvas.screenshot()).equals(fitted), 'a closer look');
  await canvas.hover();
  // Step 100 is number 10: red is 60.
  await eventually(async () => /\b60\b/.test(await square.locator('output.media-value').innerText()), 'the value of the pixel');
  await screenshot(page, 'media-zoomed');
});

test('brightness and contrast change what is seen', async (t) => {
  const page = await open(t, media, { at: 'media?step=100' });
  const square = await chart(page, 'samples/square');
  const before = await square.screenshot();
  await page.getByRole('slider', { name: 'Brightness' }).fill('2');
  await eventually(async () => !(await square.screenshot()).equals(before), 'a brighter picture');
  const brighter = await square.screenshot();
  await page.getByRole('slider', { name: 'Contrast' }).fill('3');
  await eventually(async () => !(await square.screenshot()).equals(brighter), 'a picture with more contrast');
  await page.getByRole('button', { name: /^Reset brightness/ }).click();
  assert.equal(await page.getByRole('slider', { name: 'Brightness' }).inputValue(), '1');
});

test('images of several tags and runs are side by side', async (t) => {
  const log = await Server.start([goldenLog('torch'), goldenLog('tensorboardx')]);
  const page = await open(t, log, { at: 'media' });
  const picture = await chart(page, 'picture');
  const captions = picture.locator('figcaption');
  await eventually(async () => (await captions.count()) === 2, 'a picture of each run');
  assert.match(await captions.nth(0).innerText(), /tensorboardx\/train|torch\/train/);
  const boxes = await Promise.all([0, 1].map((i) => picture.locator('figure').nth(i).boundingBox()));
  assert.ok(Math.abs(boxes[0]!.y - boxes[1]!.y) < 5, 'beside one another');
  await screenshot(page, 'media-side-by-side');
});

test("the demo's images are all there", async (t) => {
  const page = await open(t, demo, { at: 'media' });
  const kernels = await chart(page, 'features/kernels');
  assert.equal(await points(kernels), 11);
  assert.ok((await inkOf(image(kernels))) > 100);
  await screenshot(page, 'media-demo');
});

test('a sound has a waveform and a player', async (t) => {
  const page = await open(t, media, { at: 'media' });
  const tone = await chart(page, 'samples/tone');
  assert.equal(await points(tone), 3);
  const wave = tone.getByRole('slider', { name: /Place in samples\/tone/ });
  assert.ok((await inkOf(wave)) > 200);
  await eventually(async () => (await tone.locator('audio').evaluate((one) => (one as HTMLAudioElement).duration)) === 0.5, 'half a second of sound');
  assert.match(await tone.innerText(), /8,000 Hz/);
  assert.equal(await tone.locator('em').innerText(), 'tone'); // its label is Markdown
  await wave.click();
  await eventually(async () => Number(await wave.getAttribute('aria-valuenow')) > 0.1, 'another place');
  await screenshot(page, 'media-audio');
});

test('text is Markdown, and carries no script', async (t) => {
  const page = await open(t, media, { at: 'media?step=0' });
  const text = await chart(page, 'notes/markdown');
  await text.getByRole('heading', { name: 'Heading' }).waitFor();
  assert.equal(await text.getByRole('cell', { name: '2', exact: true }).count(), 1);
  assert.equal(await text.locator('script').count(), 0);
  assert.equal(await text.locator('a[href^="javascript"]').count(), 0);
  assert.equal(await text.locator('a[href="https://example.org"]').count(), 1);
  assert.doesNotMatch(await page.title(), /taken/);
  await text.getByRole('button', { name: /Next recorded step/ }).click();
  await eventually(async () => (await text.locator('strong').innerText()) === 'second', 'the second text');
  await text.getByRole('button', { name: 'As written' }).click();
  assert.match(await text.innerText(), /\*\*second\*\*/);
});

test('tags and line breaks of a text are shown as they were written', async (t) => {
  const page = await open(t, media, { at: 'media?step=0' });
  const text = await chart(page, 'notes/answer');
  const recorded = await page.evaluate(async () => {
    const answer = await fetch('api/media?run=train&tag=notes/answer&kind=text&step=0');
    return ((await answer.json()) as { texts: string[] }).texts[0]!;
  });
  const shown = await text.locator('.media-text').innerText();
  const lines = (all: string) => all.replaceAll('\u00a0', ' ').split('\n').map((line) => line.trimEnd()).filter((line) => line !== '');
  assert.deepEqual(lines(shown), lines(recorded));
  assert.match(recorded, /^<think>\nIs 17 prime\?\n/);
  assert.equal(await text.locator('.media-text').locator('img, script, think, b, div').count(), 0, 'it is text, not elements');
  assert.doesNotMatch(await page.title(), /taken/);
  await screenshot(page, 'media-text');
});

for (const writer of ['torch', 'tensorboardx', 'tensorflow', 'tensorflow_v1']) {
  test(`images and sounds of ${writer} are shown`, async (t) => {
    const log = await Server.start(goldenLog(writer));
    const page = await open(t, log, { at: 'media' });
    const old = writer === 'tensorflow_v1';
    const picture = await chart(page, old ? 'picture/image/0' : 'picture');
    assert.equal(await points(picture), old ? 5 : 3);
    assert.ok((await inkOf(image(picture))) > 0);
    const tone = await chart(page, old ? 'tone/audio/0' : 'tone');
    assert.ok((await inkOf(tone.getByRole('slider', { name: /Place in tone/ }).first())) > 50);
    await screenshot(page, `media-${writer}`);
  });
}

test('images, sounds and texts can be pinned to the top, and a link has them there', async (t) => {
  const page = await open(t, media, { at: 'media' });
  for (const tag of ['samples/square', 'samples/tone', 'notes/markdown']) {
    const card = await chart(page, tag);
    await card.hover();
    await card.getByRole('button', { name: 'Pin to the top (p)' }).click();
    await page.getByRole('region', { name: 'Pinned', exact: true }).locator(`[data-chart="${tag}"][data-ready]`).waitFor();
  }
  await eventually(async () => /pin=images:samples\/square,audio:samples\/tone,text:notes\/markdown/.test(decodeURIComponent(page.url())), 'the pins in the address');
  const link = await open(t, media, { at: new URL(page.url()).hash.slice(2) });
  const pinned = link.getByRole('region', { name: 'Pinned', exact: true });
  await eventually(async () => (await pinned.locator('[data-chart][data-ready]').count()) === 3, 'all three');
  assert.equal(await link.locator('[data-card="images:samples/square"]').count(), 1, 'it stands nowhere else');
  await screenshot(link, 'media-pinned');
});
