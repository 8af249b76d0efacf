// Debian's chromium, driven by playwright-core.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { source } from './sonde.ts';

const { chromium } = createRequire(join(source, 'web/package.json'))('playwright-core') as typeof import('playwright-core');

// Its own sandbox works neither for root nor without user namespaces, as in most containers.
export async function launch(...args: string[]): Promise<Browser> {
  const executablePath = process.env['SONDE_CHROMIUM'] ?? '/usr/bin/chromium';
  const options = { executablePath, args: ['--disable-dev-shm-usage', ...args] };
  if (process.getuid?.() !== 0) {
    try {
      return await chromium.launch({ ...options, chromiumSandbox: true });
    } catch (error) {
      if (!String(error).includes('sandbox')) throw error;
    }
  }
  return chromium.launch({ ...options, chromiumSandbox: false });
}
