/** What rows work with: the compiled C programs, maps under a pin directory of its own, a scratch directory. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cost, measureInTurn, type Subject } from './measure.ts';

export interface WorkbenchOptions {
  readonly root: string;
  readonly entries: number;
  readonly rounds: number;
}

export class Workbench implements Disposable {
  /** Entries of the large maps. */
  readonly entries: number;
  /** For files; removed at the end. */
  readonly scratch: string;
  readonly #root: string;
  readonly #rounds: number;
  readonly #pins: string;

  constructor({ root, entries, rounds }: WorkbenchOptions) {
    this.#root = root;
    this.entries = entries;
    this.#rounds = rounds;
    this.#pins = `/sys/fs/bpf/ipc-bench-${process.pid}`;
    mkdirSync(this.#pins);
    this.scratch = mkdtempSync(path.join(tmpdir(), 'ipc-bench-'));
  }

  /** A pinned map that lpmfill made; the same arguments give the same map. */
  map(kind: 'mix' | 'local' | 'random' = 'mix', entries = this.entries): string {
    const pin = `${this.#pins}/${kind}_${entries}`;
    if (!existsSync(pin)) execFileSync(this.program('lpmfill'), [pin, String(entries), kind]);
    return pin;
  }

  /** A pin that is not there yet, for rows that make maps. */
  freePin(name: string): string {
    const pin = `${this.#pins}/${name}`;
    rmSync(pin, { force: true });
    return pin;
  }

  /** A C program of bench/, compiled on first use. */
  program(name: 'lpmread' | 'lpmfill' | 'measure'): string {
    const binary = path.join(this.scratch, name);
    if (!existsSync(binary)) {
      execFileSync('cc', ['-O2', '-o', binary, path.join(this.#root, 'bench', `${name}.c`)], { stdio: 'inherit' });
    }
    return binary;
  }

  /** A bundled file of programs/. */
  nodeProgram(name: string): string {
    return path.join(this.#root, 'node_modules', '.cache', 'ipc-bench', `${name}.cjs`);
  }

  /** The yardstick: C, batches, the bytes of `ipc dump --json --no-labels`. */
  reader(pin: string): Subject {
    return { name: 'C reader', argv: [this.program('lpmread'), pin] };
  }

  /** The build under bin/. */
  ipc(...args: string[]): Subject {
    const shown = args.filter((arg) => arg !== '--map' && !arg.includes('/'));
    return { name: `ipc ${shown.join(' ')}`, argv: [...this.#command, ...args] };
  }

  /** The output of a command of ours. */
  ipcOutput(...args: string[]): string {
    const [node = '', ...rest] = [...this.#command, ...args];
    return execFileSync(node, rest, { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** Another program with arguments, or undefined where it is not installed. */
  peer(command: string, ...args: string[]): Subject | undefined {
    const found = spawnSync(command, ['version'], { stdio: 'ignore' });
    return found.error === undefined ? { name: command, argv: [command, ...args] } : undefined;
  }

  /** Whether the build has the command. */
  has(command: string): boolean {
    const manifest: unknown = JSON.parse(readFileSync(path.join(this.#root, 'oclif.manifest.json'), 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'commands' in manifest
      ? Object.hasOwn(manifest.commands as object, command)
      : false;
  }

  /** Measures in turn; undefined subjects are left out. */
  measure(subjects: readonly (Subject | undefined)[], rounds = this.#rounds): Cost[] {
    const present = subjects.filter((subject) => subject !== undefined);
    return measureInTurn(this.program('measure'), present, rounds);
  }

  [Symbol.dispose](): void {
    rmSync(this.#pins, { recursive: true, force: true });
    rmSync(this.scratch, { recursive: true, force: true });
  }

  get #command(): readonly string[] {
    return [process.execPath, path.join(this.#root, 'bin', 'run.cjs')];
  }
}
