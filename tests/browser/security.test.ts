// Access control, seen from a browser: other sites, other names for this machine, and malicious logs.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import { chart, open } from './browser.ts';
import { launch } from './chromium.ts';
import { demoLog, Server } from './sonde.ts';

const log = demoLog('--steps', '100');

// Another site, whose only page is this.
async function site(t: TestContext, html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('the token leaves the address, and scripts cannot read it', async (t) => {
  const server = await Server.start(log);
  const page = await open(t, server);
  await chart(page, 'loss');
  assert.match(server.address, /[?&]token=[\w-]{20,}/);
  assert.doesNotMatch(page.url(), /token/);
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.equal(await page.evaluate(() => document.referrer), '');
});

test('no script runs but those of the page', async (t) => {
  const server = await Server.start(log);
  const page = await open(t, server, { expected: [/Content Security Policy/] });
  await chart(page, 'loss');
  const taken = await page.evaluate(() => {
    const inline = document.createElement('script');
    inline.textContent = 'globalThis.taken = "inline"';
    document.head.append(inline);
    const button = document.createElement('button');
    button.setAttribute('onclick', 'globalThis.taken = "handler"');
    document.body.append(button);
    button.click();
    return (globalThis as { taken?: string }).taken;
  });
  assert.equal(taken, undefined);
});

test('another site can neither frame the page nor read its data', async (t) => {
  const server = await Server.start(log);
  const page = await open(t, server, { expected: [/./] });
  const other = await site(t, `<iframe src="${server.url}"></iframe>`);
  await page.goto(other);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  assert.equal(await frame?.locator('[data-run]').count(), 0);
  assert.notEqual(frame?.url(), server.url);
  const read = await page.evaluate(async (url) => {
    try {
      return await (await fetch(`${url}api/runs`)).text();
    } catch {
      return 'refused';
    }
  }, server.url);
  assert.equal(read, 'refused');
});

test('a site that is allowed may frame the page', async (t) => {
  const address = { url: '' };
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(`<iframe src="${address.url}" width=1200 height=700></iframe>`));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sonde = await Server.start(log, '--allow-origin', origin);
  address.url = sonde.address;
  const page = await open(t, sonde, { expected: [new RegExp(origin)] });
  await page.goto(`${origin}/`);
  await page.frameLocator('iframe').locator('[data-run="train"]').first().waitFor();
});

test('another name that leads to this machine is rejected', async () => {
  const server = await Server.start(log);
  const browser = await launch('--host-resolver-rules=MAP rebound.example 127.0.0.1');
  const page = await browser.newPage();
  for (const path of ['', 'api/runs']) {
    const response = await page.goto(`http://rebound.example:${server.port}/${path}`);
    assert.equal(response?.status(), 403);
  }
  await browser.close();
});

test('below a path prefix the page works as well', async (t) => {
  const server = await Server.start(log, '--path-prefix', '/some/where');
  assert.match(server.url, /\/some\/where\/$/);
  const page = await open(t, server);
  await chart(page, 'loss');
});
