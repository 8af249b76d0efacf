// The programs of the build under test: the command, its server, and the writer of logs. Their folders vanish with the
// test process.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const source = resolve(import.meta.dirname, '../..');
export const build = resolve(process.env['SONDE_BUILD_DIR'] ?? join(source, 'build'));
export const golden = join(source, 'tests/data');
const command = join(build, 'bin/sonde');
const pageLogs = join(build, 'tests/browser/page_logs');

// So that a slow machine fails nothing.
export const patience = 30_000;

const scratch = mkdtempSync(join(tmpdir(), 'sonde-browser-'));
const running = new Set<ChildProcess>();
const environment = { ...process.env, XDG_CACHE_HOME: join(scratch, 'cache'), SSH_CONNECTION: '' };
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

let folders = 0;
export function newFolder(): string {
  folders += 1;
  const folder = join(scratch, `logs-${folders}`);
  mkdirSync(folder);
  return folder;
}

function start(program: string, args: string[]): ChildProcess {
  const child = spawn(program, args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
  running.add(child);
  child.on('exit', () => running.delete(child));
  return child;
}

// A program that still runs does not keep the tests from ending, unless one waits for it.
function hold(child: ChildProcess, held: boolean): void {
  for (const handle of [child, child.stdout as Socket | null, child.stderr as Socket | null]) {
    if (held) handle?.ref();
    else handle?.unref();
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done(child.exitCode);
    hold(child, true);
    child.once('exit', (code) => done(code));
    child.kill(signal);
  });
}

// ---- Logs

export function demoLog(...args: string[]): string {
  const folder = newFolder();
  execFileSync(command, ['demo', '--no-serve', '--dir', folder, ...args], { env: environment, stdio: 'pipe' });
  return folder;
}

export function pageLog(kind: 'media' | 'trials' | 'tuning' | 'many' | 'steps' | 'network' | 'layers' | 'oddities', ...sizes: number[]): string {
  const folder = newFolder();
  execFileSync(pageLogs, [kind, folder, ...sizes.map(String)], { env: environment, stdio: 'pipe' });
  return folder;
}

// A golden log, copied so that nothing is written beside the original.
export function goldenLog(writer: string): string {
  const folder = join(newFolder(), writer);
  cpSync(join(golden, writer), folder, { recursive: true });
  return folder;
}

// A job that records on command.
export class Job {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(run: string) {
    this.#child = start(pageLogs, ['live', run]);
    hold(this.#child, false);
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  // Returns when the point is in the file.
  async record(tag: string, step: number, value: number): Promise<void> {
    hold(this.#child, true);
    this.#child.stdin!.write(`${tag} ${step} ${value}\n`);
    const line = await this.#lines.next();
    hold(this.#child, false);
    if (line.done) throw new Error('the job has ended');
  }

  async finish(): Promise<void> {
    hold(this.#child, true);
    const ended = new Promise((done) => this.#child.once('exit', done));
    this.#child.stdin!.end();
    await ended;
  }

  kill(): Promise<number | null> {
    return end(this.#child, 'SIGKILL');
  }
}

// ---- The server, by itself or at the end of a demo

export class Server {
  readonly address: string; // as printed, with the token
  readonly url: string; // without it
  #child: ChildProcess;
  #output: string[];

  private constructor(child: ChildProcess, address: string, output: string[]) {
    this.#child = child;
    this.address = address;
    this.url = address.replace(/\?.*$/, '');
    this.#output = output;
  }

  // `sonde serve` on a free port.
  static async start(folders: string | string[], ...args: string[]): Promise<Server> {
    const port = args.includes('--port') ? [] : ['--port', '0'];
    return Server.#running(start(command, ['serve', ...[folders].flat(), ...port, ...args]));
  }

  // `sonde demo`, which trains and then serves its log, on a free port.
  static demo(...args: string[]): Promise<Server> {
    return Server.#running(start(command, ['demo', '--dir', newFolder(), ...args]));
  }

  static async #running(child: ChildProcess): Promise<Server> {
    const output: string[] = [];
    child.stderr!.on('data', (data: Buffer) => output.push(data.toString()));
    const address = await new Promise<string>((found, failed) => {
      const timer = setTimeout(() => failed(new Error(`no address within ${patience} ms:\n${output.join('')}`)), patience);
      child.once('exit', (code) => failed(new Error(`sonde ended with ${code}:\n${output.join('')}`)));
      child.stdout!.on('data', (data: Buffer) => {
        output.push(data.toString());
        const match = /http:\/\/\S+/.exec(output.join(''));
        if (!match) return;
        clearTimeout(timer);
        found(match[0]);
      });
    });
    hold(child, false);
    return new Server(child, address, output);
  }

  get output(): string {
    return this.#output.join('');
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    return end(this.#child, signal);
  }
}
