// The JavaScript that the browser loads for the opening view, compressed as the server sends it.
import type { Browser } from 'playwright-core';

import { demoLog, Server } from '../../tests/browser/sonde.ts';
import type { Row } from './measure.ts';

export async function size(browser: Browser): Promise<Row> {
  const server = await Server.start(demoLog());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const scripts: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.sizes().then((one) => one.responseBodySize));
  });
  await page.goto(server.url);
  await page.locator('[data-chart][data-ready]').first().waitFor({ state: 'attached' });
  const bytes = (await Promise.all(scripts)).reduce((sum, one) => sum + one, 0);
  await context.close();
  await server.stop();
  return { what: 'first-view JavaScript, compressed', limit: '<= 80 kB', measured: `${(bytes / 1000).toFixed(1)} kB`, ratio: 80_000 / bytes, met: bytes <= 80_000 };
}
