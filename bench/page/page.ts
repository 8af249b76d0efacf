// Asks every question about the page, or those that are named, and prints what came out.
import { launch } from '../../tests/browser/chromium.ts';
import { filter } from './filter.ts';
import { firstChart } from './first_chart.ts';
import type { Row } from './measure.ts';
import { pixel } from './pixel.ts';
import { scroll } from './scroll.ts';
import { answers, besideStreams } from './server.ts';
import { size } from './size.ts';
import { zoom } from './zoom.ts';

const questions = { first_chart: firstChart, size, scroll, filter, pixel, zoom, answers, streams: besideStreams };

const asJson = process.argv.includes('--json');
const asked = process.argv.slice(2).filter((word) => word !== '--json');
const unknown = asked.filter((name) => !(name in questions));
if (unknown.length > 0) {
  console.error(`page: there is no question ${unknown.join(', ')}; there are ${Object.keys(questions).join(', ')}`);
  process.exit(2);
}

const rows: Row[] = [];
for (const [name, ask] of Object.entries(questions)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`page: ${name}`);
  const browser = await launch();
  try {
    const row = await ask(browser);
    rows.push(row);
    console.error(`page: ${row.measured}`);
  } finally {
    await browser.close();
  }
}

if (asJson) console.log(JSON.stringify(rows));
else {
  console.log('| what | bar | measured | met |\n|---|---|---|---|');
  for (const row of rows) console.log(`| ${row.what} | ${row.limit} | ${row.measured} | ${row.met ? 'yes' : '**no**'} |`);
}
process.exit(0);
