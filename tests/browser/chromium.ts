// Debian's chromium, driven by playwright-core.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { source } from './sonde.ts';

const { chromium } = createRequire(join(source, 'web/package.json'))('playwright-core') as typeof import('playwright-core');

// Its own sandbox does not work for root, whom tests in a container run as.
export function launch(...args: string[]): Promise<Browser> {
  const executablePath = process.env['SONDE_CHROMIUM'] ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: ['--disable-dev-shm-usage', ...args] });
}
