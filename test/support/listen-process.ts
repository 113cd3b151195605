/** `ipc listen` as a process of its own, on a map, a state directory and sockets of its own. */
import { type ChildProcessWithoutNullStreams, spawnSync } from 'node:child_process';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPin } from '../../src/lib/bpf/open-pin.ts';
import { walkMap } from '../../src/lib/bpf/walk.ts';
import { decodeEntry } from '../../src/lib/ipcache/entry.ts';
import { KEY_BYTES, type LayoutName, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import type { LoopStatus } from '../../src/lib/listen/loop-status.ts';
import { LinuxKernel } from '../../src/lib/native/linux-kernel.ts';
import type { InstalledProgram } from './installed-program.ts';

export interface ListenOptions {
  readonly program: InstalledProgram;
  readonly pin: string;
  /** For state, sockets and files. */
  readonly scratch: string;
  /** `ndjson:-` by default. */
  readonly sources?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The name of the control socket within `scratch`. */
  readonly socket?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly server: string | undefined;
  readonly text: string;
}

/** Far more than anything takes: only what never comes is waited for so long. */
const PATIENCE_MS = 60_000;

export class ListenProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly socket: string;
  stdout = '';
  stderr = '';
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #hasExited = false;

  constructor({ program, pin, scratch, sources = ['ndjson:-'], args = [], env, socket = 'ipc.sock' }: ListenOptions) {
    this.socket = path.join(scratch, socket);
    const node = args.includes('--underlay') ? [] : ['--underlay', 'none'];
    const where = ['--map', pin, '--state-dir', path.join(scratch, 'state'), '--socket', this.socket];
    const from = sources.flatMap((source) => ['--source', source]);
    this.child = program.start(
      ['listen', ...where, ...from, ...node, ...(args.includes('-q') ? [] : ['-v']), ...args],
      env && { env },
    );
    this.child.stdin.on('error', () => {});
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.exit = new Promise((resolve) =>
      this.child.once('close', (code, signal) => {
        this.#hasExited = true;
        resolve({ code, signal });
      }),
    );
  }

  send(...lines: readonly (object | string)[]): void {
    this.child.stdin.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }

  /** Waits until it is so. @throws with what the process has said, when it never is */
  async until(what: string, isSo: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
    for (const end = Date.now() + patienceMs; ; await sleep(20)) {
      if (await answered(isSo)) return;
      if (Date.now() > end || this.#hasExited) throw new Error(`never came: ${what}\n${this.stderr}`);
    }
  }

  async untilRunning(): Promise<void> {
    await this.until('phase run', () => this.stderr.includes('phase run'));
  }

  http(method: string, url: string, body = ''): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
      const call = request({ socketPath: this.socket, method, path: url, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, server: [response.headers.server].flat()[0], text }),
        );
      });
      call.once('error', reject);
      call.end(body);
    });
  }

  async status(): Promise<LoopStatus> {
    return JSON.parse((await this.http('GET', '/ipc/v1/status')).text) as LoopStatus;
  }

  /** What a full disk is to this one process: no file may become longer. */
  limitFileSize(bytes: number | 'unlimited'): void {
    const argv = [`--pid=${this.child.pid}`, `--fsize=${bytes}:unlimited`];
    const { status, stderr } = spawnSync('prlimit', argv, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`prlimit: ${stderr}`);
  }

  /** SIGTERM, unless it has ended. @returns how it ended */
  async stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (!this.#hasExited) this.child.kill(signal);
    return this.exit;
  }
}

/** False as long as nobody listens on the control socket. */
async function answered(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await isSo();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')) {
      return false;
    }
    throw error;
  }
}

/** What the map under a pin has: prefix → words. */
export async function mapWords(pin: string, layoutName: LayoutName = 'v2'): Promise<Record<string, string>> {
  using map = openPin(pin, { kernel: new LinuxKernel() });
  const layout = layoutNamed(layoutName);
  const words: Record<string, string> = {};
  for await (const { keys, values, count, firstNew } of walkMap(map)) {
    for (let i = firstNew; i < count; i++) {
      const entry = decodeEntry(layout, {
        keys,
        keyOffset: i * KEY_BYTES,
        values,
        valueOffset: i * map.info.valueBytes,
      });
      const tunnel = entry.tunnelEndpoint === undefined ? '' : ` via ${entry.tunnelEndpoint}`;
      const key = entry.encryptKey === 0 ? '' : ` key ${entry.encryptKey}`;
      words[entry.prefix] = `${entry.identity}${tunnel}${key}`;
    }
  }
  return words;
}
