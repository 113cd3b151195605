import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import schema from '../../../schemas/doctor.json' with { type: 'json' };
import Doctor from '../../../src/commands/doctor.ts';
import Dump from '../../../src/commands/dump.ts';
import { createMap } from '../../../src/lib/bpf/create-map.ts';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { linkPin, pinMap } from '../../../src/lib/bpf/pin.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_LPM_TRIE } from '../../../src/lib/bpf/uapi.ts';
import type { Finding } from '../../../src/lib/check/finding.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { emptyCheckpoint, type StateCheckpoint } from '../../../src/lib/state/checkpoint.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { installProgram } from '../../support/installed-program.ts';
import { loadProgram } from '../../support/load-program.ts';
import { runCommand } from '../../support/run-command.ts';

const kernel = new LinuxKernel();
const valid = new Ajv2020({ strict: false }).compile(schema);
let dir: string;
let bpffs: string;
let pin: string;
let mounts = 0;
const maps: BpfMap[] = [];

beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'ipc-doctor-'));
  bpffs = join(dir, 'bpf');
  fs.mkdirSync(bpffs);
  mount();
  fs.mkdirSync(join(bpffs, 'tc/globals'), { recursive: true });
  pin = join(bpffs, 'tc/globals/cilium_ipcache_v2');
});
afterEach(() => {
  for (const map of maps.splice(0)) map[Symbol.dispose]();
  for (; mounts > 0; mounts--) execFileSync('umount', [bpffs]);
  fs.rmSync(dir, { recursive: true, force: true });
});

function mount(): void {
  execFileSync('mount', ['-t', 'bpf', 'bpf', bpffs]);
  mounts++;
}

/** A v2 map with that many entries. */
function makeMap(entries: number): BpfMap {
  const spec = { type: BPF_MAP_TYPE_LPM_TRIE, keyBytes: 24, valueBytes: 24, maxEntries: 64, flags: BPF_F_NO_PREALLOC };
  const map = createMap(kernel, { ...spec, name: 'cilium_ipcache_v2' });
  maps.push(map);
  for (let i = 0; i < entries; i++) {
    const key = Uint8Array.from([64, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, i, ...Array(12).fill(0)]);
    map.update(key, Uint8Array.of(2, 0, 0, 1, ...Array(20).fill(0)));
  }
  return map;
}

interface Report {
  readonly map?: { id: number; pin?: string; owner: string; programs: number | null };
  readonly complete: boolean;
  readonly summary: Record<string, number>;
  readonly items: readonly Finding[];
  readonly maps: readonly { id: number; pins: string[]; entries: number | null; programs: number | null }[];
}

const doctor = (...argv: string[]) => doctorAt(bpffs, ...argv);

async function doctorAt(root: string, ...argv: string[]) {
  const fixed = ['--bpffs', root, '--state-dir', join(dir, 'state'), '--allocator-state', join(dir, 'allocator.json')];
  const env = { CILIUM_SOCK: join(dir, 'cilium.sock') };
  const result = await runCommand(Doctor, [...fixed, '--json', ...argv], { env, now: Date.now() });
  const report = JSON.parse(result.stdout) as Report;
  expect(valid(report), JSON.stringify(valid.errors)).toBe(true);
  const item = (check: string): Finding | undefined => report.items.find((finding) => finding.check === check);
  return { ...result, report, item };
}

describe('ipc doctor', () => {
  it('finds nothing wrong with one pinned map, and says what it is', async () => {
    const map = makeMap(3);
    pinMap(map, pin);
    const { exitCode, report, item, stderr } = await doctor('--fail-on', 'medium');
    expect(report.maps.find(({ id }) => id === map.info.id)).toEqual({
      id: map.info.id,
      name: 'cilium_ipcache_',
      pins: [pin],
      layout: 'v2',
      entries: 3,
      maxEntries: 64,
      flags: 1,
      programs: 0,
      processes: [],
    });
    expect(report.map).toEqual({ id: map.info.id, pin, layout: 'v2', owner: 'nobody', programs: 0 });
    expect(item('permissions')?.message).toContain(`read ${pin}, write ${pin}, list maps by id, list programs`);
    expect(item('kernel')?.message).toContain('batch lookups on LPM tries');
    expect(item('allocator-checkpoint')).toMatchObject({ severity: 'info' });
    expect(item('state-directory')?.message).toContain('does not exist');
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  it('op 27: an empty pin beside an unpinned map that programs use is an error, and --map id:N reads that one', async () => {
    const pinned = makeMap(0);
    pinMap(pinned, pin);
    const live = makeMap(3);
    using _program = loadProgram(kernel, { fd: live.fd, keyBytes: 24 }, 'my_datapath');
    const { exitCode, item } = await doctor();
    expect(exitCode).toBe(10);
    expect(item('map-unused')).toMatchObject({ severity: 'high' });
    expect(item('map-unused')?.message).toContain(
      `map id ${pinned.info.id} (0 entries); in use is id ${live.info.id} (3 entries)`,
    );
    expect(item('map-unused')?.hint).toContain(`--map id:${live.info.id}`);
    const dump = await runCommand(Dump, ['--map', `id:${live.info.id}`, '--count', '--json']);
    expect(dump.exitCode).toBe(0);
  });

  it('op 50: two bpf mounts on one path are an error', async () => {
    pinMap(makeMap(1), pin);
    mount();
    const { exitCode, item } = await doctor();
    expect(exitCode).toBe(10);
    expect(item('bpffs')).toMatchObject({ severity: 'high' });
    expect(item('bpffs')?.message).toBe(
      `2 bpf filesystems are mounted on ${bpffs}: only the pins of the last one can be seen`,
    );
  });

  it('op 50: a plain directory where bpffs should be is an error', async () => {
    const { exitCode, item, report } = await doctorAt(dir);
    expect(exitCode).toBe(10);
    expect(item('bpffs')).toMatchObject({ severity: 'high' });
    expect(item('bpffs')?.message).toContain(`${dir}: not a bpf filesystem`);
    expect(report.map).toBeUndefined();
  });

  it('op 52: pins of an unfinished replacement are a warning', async () => {
    pinMap(makeMap(1), pin);
    pinMap(makeMap(1), `${pin}_pending`);
    pinMap(makeMap(1), `${pin}:pending`);
    fs.mkdirSync(join(bpffs, 'other'));
    linkPin(pin, join(bpffs, 'other/mine'));
    const { exitCode, report } = await doctor();
    expect(exitCode).toBe(0);
    const left = report.items.filter(({ check }) => check === 'leftover');
    expect(left.map(({ severity }) => severity)).toEqual(['medium', 'medium']);
    expect(left.map(({ hint }) => hint?.split(' rm ')[1])).toEqual([`${pin}:pending`, `${pin}_pending`]);
    expect(report.maps.some(({ pins }) => pins.includes(pin) && pins.includes(join(bpffs, 'other/mine')))).toBe(true);
  });

  it('says whose map it is and on what evidence', async () => {
    const map = makeMap(1);
    pinMap(map, pin);
    using _program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'cil_test');
    const child = spawn('sleep', ['60'], { stdio: [map.fd, 'ignore', 'ignore'] });
    const server = createServer().listen(join(dir, 'cilium.sock'));
    try {
      await new Promise((resolve) => child.once('spawn', resolve));
      const { report, item, exitCode } = await doctor('--fail-on', 'medium');
      expect(report.map?.owner).toBe('agent');
      expect(item('owner')?.evidence).toEqual([
        `process ${child.pid} (sleep) holds the map read-write`,
        `${dir}/cilium.sock exists and is silent (pid ${process.pid})`,
        'the loaded program cil_test holds the map',
      ]);
      expect(item('agent')).toMatchObject({ severity: 'medium' });
      expect(exitCode).toBe(10);
    } finally {
      child.kill('SIGKILL');
      server.close();
    }
  });

  it('says what is wrong with the state directory', async () => {
    pinMap(makeMap(1), pin);
    const time = '2026-01-02T03:04:05.006Z';
    const write = async (change: Partial<StateCheckpoint>): Promise<void> => {
      using state = openState({ directory: join(dir, 'state'), pin });
      await state.write({ ...emptyCheckpoint(pin, time, 'b'), ...change });
    };
    await write({
      writer: { pid: 4711, started: time, drained: false },
      pending: [{ op: 'delete', prefix: '10.0.0.0/8', errno: 'ENOMEM' }],
    });
    fs.writeFileSync(join(dir, 'state/.checkpoint.json.0123456789ab.tmp'), '');
    fs.chmodSync(join(dir, 'state'), 0o777);
    const first = await doctor();
    expect(first.exitCode).toBe(10);
    expect(first.report.map?.owner).toBe('ipc');
    const of = (report: Report) =>
      report.items
        .filter(({ check }) => check.startsWith('state-'))
        .map(({ check, severity }) => `${severity} ${check}`);
    expect(of(first.report)).toEqual([
      'high state-mode',
      'low state-leftover',
      'info state-directory',
      'low state-undrained',
      'medium state-pending',
    ]);
    fs.chmodSync(join(dir, 'state'), 0o700);
    fs.truncateSync(join(dir, 'state/checkpoint.json'), 100);
    const second = await doctor();
    expect(second.item('state-checkpoint')).toMatchObject({ severity: 'high' });
    expect(second.item('state-checkpoint')?.message).toContain('it is cut off after 100 bytes');
  });

  it('names the byte at which the allocator checkpoint is damaged', async () => {
    pinMap(makeMap(1), pin);
    fs.writeFileSync(join(dir, 'allocator.json'), '[{"id":16777217,');
    const { item, exitCode } = await doctor();
    expect(item('allocator-checkpoint')).toMatchObject({ severity: 'high' });
    expect(exitCode).toBe(10);
  });

  it('op 50: a user without rights is told of each one that is missing, and what would help', async () => {
    pinMap(makeMap(1), pin);
    fs.chmodSync(pin, 0o600);
    for (const open of [dir, bpffs]) fs.chmodSync(open, 0o755);
    fs.mkdirSync(join(dir, 'state'), { mode: 0o700 });
    using program = installProgram();
    const argv = ['doctor', '--json', '--bpffs', bpffs, '--state-dir', join(dir, 'state/inner')];
    const { status, stdout } = program.run(argv, { uid: 65534 });
    const { items, complete } = JSON.parse(stdout) as Report;
    const said = new Map(items.map(({ check, severity, message }) => [check, `${severity}: ${message}`]));
    expect(said.get('pin-choice')).toBe(`high: Cannot open map ${pin}: no permission to read this pin`);
    expect(said.get('may-list-maps')).toBe('low: may not list maps by id');
    expect(said.get('may-list-programs')).toBe('low: may not list programs');
    expect(said.get('may-create-maps')).toMatch(/^low: may not create maps/);
    expect(said.get('may-keep-state')).toBe(`low: may not keep state in ${dir}/state/inner`);
    expect(said.get('state-directory')).toBe(`low: Cannot look at ${dir}/state/inner: permission denied`);
    for (const { severity, hint } of items) if (severity !== 'info') expect(hint).toBeDefined();
    expect([status, complete]).toEqual([10, false]);
  });

  it('fails like every command when --map names nothing', async () => {
    const result = await runCommand(Doctor, ['--map', `${pin}_none`, '--json']);
    expect([result.exitCode, result.stdout]).toEqual([3, '']);
  });

  it('prints findings, most severe first, and a table of maps', async () => {
    pinMap(makeMap(2), pin);
    pinMap(makeMap(0), `${pin}_pending`);
    const { stdout } = await runCommand(Doctor, ['--bpffs', bpffs, '--state-dir', join(dir, 'state')], {
      now: Date.now(),
    });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^medium {2}leftover {2}\S+_pending is left over/);
    expect(lines).toContainEqual(expect.stringMatching(/^ *ID +NAME +PIN +LAYOUT +ENTRIES +MAX +PROGRAMS +WRITERS$/));
    expect(lines).toContainEqual(expect.stringMatching(/^found: .*1 medium/));
  });
});
