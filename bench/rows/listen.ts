/** `ipc listen`: events from NDJSON into the kernel, memory of what it holds, latency while it writes checkpoints, start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow } from '../row.ts';
import type { Workbench } from '../workbench.ts';

const RATE = 10_000;
const LATENCY_SECONDS = 25;
const SLOW_SECONDS = 0.01;

const row: BenchRow = {
  name: 'listen',
  command: 'listen',
  async run(bench) {
    const n = bench.entries;
    const events = path.join(bench.scratch, 'events.ndjson');
    writeFileSync(events, `${upserts(n, 1000)}${upserts(n, 1001)}{"op":"synced"}\n`);
    const fed = new Run(bench, { pin: bench.freePin('listen'), stdin: openSync(events, 'r') });
    const begun = await fed.until(/phase run/);
    await fed.until(/all sources are synced/);
    const seconds = ((await fed.untilWritten()) - begun) / 1000;
    const memory = fed.mebibytes();
    await fed.stop();

    const steady = new Run(bench, { pin: bench.freePin('listen-latency'), stdin: 'pipe' });
    await steady.until(/phase run/);
    await steady.send(LATENCY_SECONDS);
    const slow = await steady.shareSlowerThan(SLOW_SECONDS);
    await steady.stop();

    const local = path.join(bench.scratch, 'local.ndjson');
    writeFileSync(local, `${upserts(n, 16_777_217, n)}{"op":"synced"}\n`);
    const pin = bench.freePin('listen-start');
    const fill = new Run(bench, { pin, stdin: openSync(local, 'r'), args: ['--no-restore'] });
    await fill.until(/all sources are synced/);
    await fill.untilWritten();
    await fill.stop();
    const start = new Run(bench, { pin, stdin: 'pipe', state: 'fresh' });
    const started = (await start.until(/phase run/)) / 1000;
    await start.stop();

    return {
      costs: [],
      claims: [
        {
          what: 'events a second into the kernel',
          measured: Math.round((2 * n) / seconds),
          limit: 200_000,
          atLeast: true,
        },
        { what: `memory of ${n} prefixes, MiB`, measured: memory, limit: 350 },
        { what: `share of changes slower than 10 ms at ${RATE}/s, %`, measured: slow * 100, limit: 1 },
        { what: `start with ${n} restored prefixes, s`, measured: started, limit: 6 },
      ],
    };
  },
};

interface RunOptions {
  readonly pin: string;
  readonly stdin: number | 'pipe';
  readonly args?: readonly string[];
  /** The name of the state directory. */
  readonly state?: string;
}

class Run {
  readonly #child: ChildProcess;
  readonly #begun = performance.now();
  #stderr = '';

  constructor(bench: Workbench, { pin, stdin, args = [], state = path.basename(pin) }: RunOptions) {
    const { argv } = bench.ipc('listen', '--map', pin, '--state-dir', path.join(bench.scratch, `state-${state}`));
    const [node = '', ...rest] = argv;
    const flags = ['--source', 'ndjson:-', '--underlay', 'none', '--socket', '', '--metrics', '127.0.0.1:0', ...args];
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    this.#child = spawn(node, [...rest, ...flags, '--sole-writer'], { stdio: [stdin, 'ignore', 'pipe'], env });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
  }

  /** @returns milliseconds since the start */
  async until(line: RegExp): Promise<number> {
    while (!line.test(this.#stderr)) {
      if (this.#child.exitCode !== null) throw new Error(`ipc listen ended: ${this.#stderr}`);
      await sleep(5);
    }
    return performance.now() - this.#begun;
  }

  async untilWritten(): Promise<number> {
    while (((await this.#metrics()).get('ipc_listen_pending') ?? 1) > 0) await sleep(5);
    return performance.now() - this.#begun;
  }

  /** Upserts at the rate, local identities among them, so that checkpoints are written meanwhile. */
  async send(seconds: number): Promise<void> {
    const begun = performance.now();
    for (let sent = 0; sent < seconds * RATE; ) {
      const due = Math.min(seconds * RATE, ((performance.now() - begun) / 1000) * RATE);
      let text = '';
      for (; sent < due; sent++) text += upsert(sent % 50_000, (sent % 10 === 0 ? 16_777_217 : 1000) + (sent % 4999));
      if (text !== '') this.#child.stdin?.write(text);
      await sleep(2);
    }
    await this.untilWritten();
  }

  async shareSlowerThan(seconds: number): Promise<number> {
    const metrics = await this.#metrics();
    const name = 'ipc_listen_event_to_map_seconds';
    const all = metrics.get(`${name}_count`) ?? 0;
    if (all === 0) throw new Error('nothing was timed');
    return 1 - (metrics.get(`${name}_bucket{le="${seconds}"}`) ?? 0) / all;
  }

  mebibytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }

  async #metrics(): Promise<ReadonlyMap<string, number>> {
    await this.until(/metrics on port (\d+)/);
    const port = /metrics on port (\d+)/.exec(this.#stderr)?.[1];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return new Map(
      text.split('\n').flatMap((line): [string, number][] => {
        const [name = '', value] = line.split(' ');
        return value === undefined || line.startsWith('#') ? [] : [[name, Number(value)]];
      }),
    );
  }
}

function upserts(n: number, first: number, identities = 5000): string {
  let text = '';
  for (let i = 0; i < n; i++) text += upsert(i, first + (i % identities));
  return text;
}

function upsert(i: number, identity: number): string {
  const prefix = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  return `{"op":"upsert","prefix":"${prefix}/32","identity":${identity},"hostIP":"192.0.2.${i % 250}","encryptKey":0,"source":"kvstore"}\n`;
}

export default row;
