// For everybody: on a phone, by keyboard, with a screen reader, with weak eyes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, open, phone, run, screenshot } from './browser.ts';
import { demoLog, Server } from './sonde.ts';

const server = await Server.start(demoLog('--steps', '200'));
const views = ['', 'metrics', 'distributions', 'media'];

async function settled(page: Page): Promise<void> {
  await page.getByRole('main').waitFor();
  await eventually(async () => (await page.locator('[data-ready]').count()) > 0, 'something drawn');
}

// Texts with too little contrast, by the formula of WCAG 2.
const paleTexts = (page: Page) =>
  page.evaluate(() => {
    const parse = (colour: string): number[] => {
      const numbers = (colour.match(/[\d.]+/g) ?? []).map(Number);
      if (colour.startsWith('color(srgb')) return [numbers[0]! * 255, numbers[1]! * 255, numbers[2]! * 255, numbers[3] ?? 1];
      return [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0, numbers[3] ?? 1];
    };
    const over = (top: number[], below: number[]) => [0, 1, 2].map((i) => top[i]! * top[3]! + below[i]! * (1 - top[3]!));
    const luminance = (colour: number[]) => {
      const [r, g, b] = colour.map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    };
    const behind = (element: Element | null): number[] => {
      const layers: number[][] = [];
      for (let at = element; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        layers.push(colour);
        if (colour[3] === 1) break;
      }
      return layers.reduceRight((below, top) => [...over(top, below), 1], [255, 255, 255, 1]);
    };
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement!;
      const text = walker.currentNode.textContent?.trim();
      if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (element.closest(':disabled, [aria-disabled=true], .visually-hidden, option')) continue;
      const back = behind(element);
      const [a, b] = [luminance(over(parse(getComputedStyle(element).color), back)), luminance(back)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${element.tagName}.${element.className}: ${text.slice(0, 40)}`);
    }
    return [...new Set(found)];
  });

// Controls that a screen reader could not name.
const namelessControls = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, a[href], input, select, textarea, [role=slider], [role=button], canvas[role=img]')]
      .filter((one) => one.checkVisibility())
      .filter((one) => {
        const labels = 'labels' in one ? [...((one as HTMLInputElement).labels ?? [])].map((label) => label.textContent) : [];
        return !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent?.trim() || labels.join('').trim());
      })
      .map((one) => one.outerHTML.slice(0, 120)),
  );

for (const view of views) {
  const name = view || 'the opening view';
  test(`${name}: texts stand out from what is behind them, dark and light`, async (t) => {
    for (const colorScheme of ['dark', 'light'] as const) {
      const page = await open(t, server, { ...(view ? { at: view } : {}), colorScheme });
      await settled(page);
      assert.deepEqual(await paleTexts(page), [], colorScheme);
      await screenshot(page, `${view || 'overview'}-${colorScheme}`);
    }
  });

  test(`${name}: every control has a name`, async (t) => {
    const page = await open(t, server, view ? { at: view } : {});
    await settled(page);
    assert.deepEqual(await namelessControls(page), []);
  });

  test(`${name}: fits a phone`, async (t) => {
    const page = await open(t, server, { ...(view ? { at: view } : {}), viewport: phone, hasTouch: true, isMobile: true });
    await settled(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} px wider than the screen`);
    await screenshot(page, `${view || 'overview'}-phone`);
  });
}

test('on a phone the name of the open view is in sight', async (t) => {
  const page = await open(t, server, { at: 'metrics', viewport: phone, hasTouch: true, isMobile: true });
  const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
  await chart(page, 'loss');
  for (const at of [(await links.count()) - 1, 0]) {
    await page.keyboard.press(`${at + 1}`);
    await eventually(async () => (await links.nth(at).getAttribute('aria-current')) === 'page', 'the view');
    await eventually(async () => {
      const box = await links.nth(at).boundingBox();
      return box !== null && box.x >= 0 && box.x + box.width <= phone.width;
    }, 'its name');
  }
});

test('on a phone the runs are in a drawer', async (t) => {
  const page = await open(t, server, { at: 'metrics', viewport: phone, hasTouch: true, isMobile: true });
  await chart(page, 'loss');
  assert.equal(await run(page, 'train').isVisible(), false);
  await page.getByRole('button', { name: 'Runs', exact: true }).tap();
  await eventually(async () => {
    const box = await run(page, 'train').boundingBox();
    return box !== null && box.x >= 0 && box.x < phone.width;
  }, 'the drawer');
  await screenshot(page, 'drawer-phone');
});

test('the focus is visible while Tab moves it', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  for (let i = 0; i < 12; ++i) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return 'nothing';
      const marks = [element, element.parentElement!].map((one) => getComputedStyle(one));
      return marks.some((style) => (style.outlineStyle !== 'none' && style.outlineWidth !== '0px') || style.boxShadow !== 'none') ? '' : element.outerHTML.slice(0, 100);
    });
    assert.equal(seen, '');
  }
});

// Fingers at these places of an element, as shares of its width and height.
async function touch(page: Page, of: Locator, moves: [number, number][][]): Promise<void> {
  const box = (await of.boundingBox())!;
  const session = await page.context().newCDPSession(page);
  for (const [i, fingers] of moves.entries()) {
    const touchPoints = fingers.map(([x, y], id) => ({ x: box.x + box.width * x, y: box.y + box.height * y, id }));
    await session.send('Input.dispatchTouchEvent', { type: i === 0 ? 'touchStart' : 'touchMove', touchPoints });
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

test('on a phone two fingers zoom a chart, a tap sets the step, and one finger scrolls the page', async (t) => {
  const page = await open(t, server, { at: 'metrics', viewport: phone, hasTouch: true, isMobile: true });
  const loss = await chart(page, 'loss');
  await touch(page, loss, [
    [[0.4, 0.5], [0.6, 0.5]],
    [[0.35, 0.5], [0.65, 0.5]],
    [[0.3, 0.5], [0.7, 0.5]],
  ]);
  await eventually(async () => /[?&]x=[\d.]+~[\d.]+/.test(decodeURIComponent(page.url())), 'a range in the address');
  assert.doesNotMatch(page.url(), /step=/, 'two fingers are no tap');
  const [, lo = 0, hi = 0] = /x=([\d.]+)~([\d.]+)/.exec(decodeURIComponent(page.url()))!.map(Number);
  await touch(page, loss, [[[0.5, 0.5]]]);
  const step = await eventually(async () => Number(/step=(\d+)/.exec(page.url())?.[1] ?? 0), 'a step in the address');
  assert.ok(step > lo && step < hi, `step ${step} between ${lo} and ${hi}`);

  const scrolled = () => page.getByRole('main').evaluate((main) => main.scrollTop);
  const before = await scrolled();
  await touch(page, loss, Array.from({ length: 12 }, (_, i): [number, number][] => [[0.5, 0.9 - 0.08 * i]]));
  await eventually(async () => (await scrolled()) > before + 20, 'the page farther down');
});
