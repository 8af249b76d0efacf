// A real browser that looks at a server. A page that says anything on its console, breaks its own security policy or
// asks anybody but its server fails the test that opened it.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

import { launch } from './chromium.ts';
import { build, patience, type Server } from './sonde.ts';

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

export interface Look extends BrowserContextOptions {
  at?: string; // where in the page, as in a link: "metrics?smooth=0"
  expected?: RegExp[]; // complaints that belong to the test
}

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

// A page with empty storage; closed, and checked for console messages, when the test ends.
export async function open(test: TestContext, server: Server, look: Look = {}): Promise<Page> {
  const { at, expected = [], ...options } = look;
  browser ??= launch();
  const context = await (await browser).newContext({ viewport: desktop, colorScheme: 'dark', ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const complaints = listen(page, server);
  test.after(async () => {
    await context.close();
    const unexpected = complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, [], 'the page complained');
  });
  await page.goto(server.address + (at === undefined ? '' : `#/${at}`));
  return page;
}

export function listen(page: Page, server: Server): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(new URL(server.url).origin) && !/^(blob|data):/.test(url)) complaints.push(`asks ${url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} from ${response.url()}`);
  });
  return complaints;
}

// The first true answer of `condition`.
export async function eventually<T>(condition: () => Promise<T>, what: string): Promise<NonNullable<T>> {
  const until = Date.now() + patience;
  let last: unknown;
  while (Date.now() < until) {
    try {
      const answer = await condition();
      if (answer) return answer;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 30));
  }
  throw new Error(`${what}: not within ${patience} ms${last ? ` (${String(last)})` : ''}`);
}

// ---- Attributes of the page that tests and scripts rely on

export function charts(page: Page): Locator {
  return page.locator('[data-chart][data-ready]');
}

// The first chart of a tag, scrolled to, once it has drawn its data. Until it is near the screen, there is only a
// placeholder.
export async function chart(page: Page, tag: string): Promise<Locator> {
  const selector = `[data-chart=${JSON.stringify(tag)}]`;
  const found = page.locator(selector).first();
  await page.locator(`${selector}, [data-place$=${JSON.stringify(`:${tag}`)}]`).first().scrollIntoViewIfNeeded();
  await page.locator(`${selector}[data-ready]`).first().waitFor({ state: 'attached' });
  return found;
}

export async function points(found: Locator): Promise<number> {
  return Number(await found.getAttribute('data-points'));
}

export function run(page: Page, name: string): Locator {
  return page.locator(`[data-run=${JSON.stringify(name)}]`).first();
}

export async function runNames(page: Page): Promise<string[]> {
  const names = await page.locator('[data-run]').evaluateAll((all) => all.map((one) => one.getAttribute('data-run') ?? ''));
  return [...new Set(names)];
}

export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = join(build, 'screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

// How many pixels of a canvas or picture are not transparent and differ from its first one: nothing drawn gives 0.
export function inkOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element) => {
    if (!(element instanceof HTMLCanvasElement)) throw new Error('not a canvas');
    const copy = new OffscreenCanvas(element.width, element.height).getContext('2d', { willReadFrequently: true })!;
    copy.drawImage(element, 0, 0);
    const { data } = copy.getImageData(0, 0, element.width, element.height);
    let ink = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] !== 0 && (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2])) ink += 1;
    }
    return ink;
  });
}
