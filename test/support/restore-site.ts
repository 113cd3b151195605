/** A node for tests of restore and release: pins, a state directory, an allocator checkpoint, commands run in process. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openPin } from '../../src/lib/bpf/open-pin.ts';
import { walkMap } from '../../src/lib/bpf/walk.ts';
import { decodeEntry, type IpcacheEntry } from '../../src/lib/ipcache/entry.ts';
import { openIpcache } from '../../src/lib/ipcache/ipcache-map.ts';
import type { LayoutName } from '../../src/lib/ipcache/layout.ts';
import { listEntries } from '../../src/lib/ipcache/list-entries.ts';
import { LinuxKernel } from '../../src/lib/native/linux-kernel.ts';
import type { StateCheckpoint } from '../../src/lib/state/checkpoint.ts';
import { readCheckpoint } from '../../src/lib/state/read-checkpoint.ts';
import { pinnedIpcache, type WordEntry } from './pinned-ipcache.ts';
import { pinDirectory } from './real-kernel.ts';
import { type RunOptions, type RunResult, runCommand } from './run-command.ts';
import { expectFits } from './schemas.ts';

export interface ReportItem {
  readonly action: string;
  readonly prefix: string;
  readonly identity?: number;
  readonly reason: string;
  readonly labels?: readonly string[];
  readonly labelsFrom?: string;
  readonly fallsTo?: string;
  readonly policyMaps?: number | null;
  readonly done: boolean;
}

export interface Report {
  readonly map: { readonly id?: number; readonly pin: string; readonly owner: string };
  readonly complete: boolean;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly summary: Readonly<Record<string, number>>;
  readonly items: readonly ReportItem[];
  readonly warnings?: readonly string[];
  readonly [more: string]: unknown;
}

export class Site implements Disposable {
  readonly kernel = new LinuxKernel();
  readonly directory: string;
  readonly stateDir: string;
  readonly pin: string;
  readonly #pins;

  constructor(name: string) {
    this.#pins = pinDirectory(name);
    this.directory = mkdtempSync(join(tmpdir(), `ipc-${name}-`));
    this.stateDir = join(this.directory, 'state');
    this.pin = `${this.#pins.path}/cilium_ipcache_v2`;
  }

  get pins(): string {
    return this.#pins.path;
  }

  file(name: string): string {
    return join(this.directory, name);
  }

  /** Makes a pinned map that only its pin holds. */
  map(
    entries: readonly WordEntry[],
    { pin = this.pin, layout = 'v2' }: { pin?: string; layout?: LayoutName } = {},
  ): void {
    rmSync(pin, { force: true });
    pinnedIpcache(this.kernel, pin, entries, layout)[Symbol.dispose]();
  }

  /** Writes an allocator checkpoint. @returns its path */
  allocator(identities: Readonly<Record<number, readonly string[]>> | string): string {
    const path = this.file('local_allocator_state.json');
    const records =
      typeof identities === 'string' ? identities : JSON.stringify(Object.entries(identities).map(record));
    writeFileSync(path, typeof identities === 'string' ? records : `${records}\n`);
    return path;
  }

  /** Every entry of a pinned map by its prefix. */
  async entries(pin = this.pin, layout?: LayoutName): Promise<Map<string, IpcacheEntry>> {
    using ipcache = await openIpcache({ kernel: this.kernel, ref: { kind: 'pin', path: pin }, layout });
    const found = new Map<string, IpcacheEntry>();
    const listing = await listEntries(walkMap(ipcache.map), {
      valueBytes: ipcache.map.info.valueBytes,
      onEntry(keys, keyOffset, values, valueOffset) {
        const entry = decodeEntry(ipcache.layout, { keys, keyOffset, values, valueOffset });
        found.set(entry.prefix, entry);
      },
    });
    expect(listing.complete).toBe(true);
    return found;
  }

  /** Prefix → number. */
  async numbers(pin = this.pin, layout?: LayoutName): Promise<Record<string, number>> {
    const entries = await this.entries(pin, layout);
    return Object.fromEntries([...entries].map(([prefix, { identity }]) => [prefix, identity]));
  }

  mapId(pin = this.pin): number {
    using map = openPin(pin, { kernel: this.kernel });
    return map.info.id;
  }

  /** What is remembered. */
  get state(): StateCheckpoint {
    const state = readCheckpoint(this.stateDir);
    if (state === undefined) throw new Error('nothing is remembered');
    return state;
  }

  get stateText(): string | undefined {
    const path = join(this.stateDir, 'checkpoint.json');
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** Runs a command with this site's state directory. */
  run(command: unknown, argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return runCommand(command, ['--state-dir', this.stateDir, ...argv], options);
  }

  /** As `run`, with --json. @param exit the status that is expected */
  async report(command: unknown, argv: readonly string[], exit = 0, options: RunOptions = {}): Promise<Report> {
    const { exitCode, stdout, stderr } = await this.run(command, [...argv, '--json'], options);
    expect(exitCode, stderr || stdout).toBe(exit);
    const report = JSON.parse(stdout) as Report & { kind: string };
    expectFits(report.kind, report);
    return report;
  }

  [Symbol.dispose](): void {
    this.#pins[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function record([id, labels]: [string, readonly string[]]) {
  const entries = labels.map((text) => {
    const [, source = '', key = '', value = ''] = /^([^:]*):([^=]*)(?:=(.*))?$/.exec(text) ?? [];
    return [key, { key, ...(value !== '' && { value }), source }];
  });
  return { id: Number(id), labels: Object.fromEntries(entries) };
}
