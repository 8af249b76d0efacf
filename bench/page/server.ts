// The server alone: how many small answers it gives in a second, and how long they take beside event streams.
import { execFile } from 'node:child_process';
import { type ClientRequest, get } from 'node:http';
import { promisify } from 'node:util';

import { Server, demoLog } from '../../tests/browser/sonde.ts';
import type { Row } from './measure.ts';

const seconds = 5;
const connections = 32;
const streams = 200;
const small = ['api/status', 'api/runs'];

interface Load {
  answers: number; // a second
  p99: number; // milliseconds
}

async function load(url: string): Promise<Load> {
  const { stdout } = await promisify(execFile)('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', url]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${url} was not always answered:\n${stdout}`);
  const answers = /Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1];
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)\b/.exec(stdout) ?? [];
  if (!answers || !value || !unit) throw new Error(`wrk printed something unexpected:\n${stdout}`);
  return { answers: Number(answers), p99: Number(value) * { us: 1e-3, ms: 1, s: 1e3 }[unit as 'us' | 'ms' | 's'] };
}

async function loads(server: Server): Promise<Map<string, Load>> {
  const found = new Map<string, Load>();
  for (const path of small) found.set(path, await load(server.url + path));
  return found;
}

const listed = (found: Map<string, Load>, say: (load: Load) => string): string =>
  [...found].map(([path, load]) => `${say(load)} of ${path.replace('api/', '')}`).join(', ');

export async function answers(): Promise<Row> {
  const server = await Server.start(demoLog('--steps', '200'));
  const found = await loads(server);
  await server.stop();
  const least = Math.min(...[...found.values()].map((load) => load.answers));
  return {
    what: `small answers, \`wrk\` with ${connections} connections, the least`,
    limit: '>= 20,000/s',
    measured: listed(found, (load) => `${Math.round(load.answers).toLocaleString('en')}/s`),
    ratio: least / 20_000,
    met: least >= 20_000,
  };
}

// Listens until it is ended; done when the server has begun to answer.
const listen = (url: string): Promise<ClientRequest> =>
  new Promise((done, failed) => {
    const request = get(url, (response) => {
      if (response.statusCode !== 200) failed(new Error(`an event stream was refused: ${response.statusCode}`));
      response.on('error', () => undefined).resume();
      done(request);
    });
    request.on('error', failed);
  });

export async function besideStreams(): Promise<Row> {
  const server = await Server.start(demoLog('--steps', '200'));
  const url = `${server.url}api/events`;
  const listeners = await Promise.all(Array.from({ length: streams }, () => listen(url)));
  const found = await loads(server);
  for (const listener of listeners) listener.destroy();
  await server.stop();
  const worst = Math.max(...[...found.values()].map((load) => load.p99));
  return {
    what: `the same beside ${streams} event streams, p99, the worst`,
    limit: '<= 20 ms',
    measured: listed(found, (load) => `${load.p99.toFixed(1)} ms`),
    ratio: 20 / worst,
    met: worst <= 20,
  };
}
