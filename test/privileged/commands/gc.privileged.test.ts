import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Gc from '../../../src/commands/gc.ts';
import SetCommand from '../../../src/commands/set.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { walkMap } from '../../../src/lib/bpf/walk.ts';
import { hexOf } from '../../../src/lib/ipcache/key.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { readCheckpoint } from '../../../src/lib/state/read-checkpoint.ts';
import { loadProgram } from '../../support/load-program.ts';
import { entryBytes, pinnedIpcache, type WordEntry } from '../../support/pinned-ipcache.ts';
import { bpfDescriptors, type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';
import { errorOf, runCommand } from '../../support/run-command.ts';
import { expectFits } from '../../support/schemas.ts';

const kernel = new LinuxKernel();
let directory: PinDirectory;
let pin: string;
let folder: string;
let state: string;
let descriptors: number;

beforeEach(() => {
  descriptors = bpfDescriptors();
  directory = pinDirectory('gc');
  pin = `${directory.path}/map`;
  folder = mkdtempSync(join(tmpdir(), 'ipc-gc-'));
  state = join(folder, 'state');
});
afterEach(() => {
  directory[Symbol.dispose]();
  rmSync(folder, { recursive: true });
  expect(bpfDescriptors()).toBe(descriptors);
});

function given(entries: readonly WordEntry[]): void {
  pinnedIpcache(kernel, pin, entries)[Symbol.dispose]();
}

/** An NDJSON file with these entries as the desired state. */
function desired(entries: readonly WordEntry[]): string {
  const file = join(folder, 'desired.ndjson');
  const lines = entries.map(({ prefix, identity }) =>
    JSON.stringify({ op: 'upsert', prefix, identity, source: 'api' }),
  );
  writeFileSync(file, `${[...lines, '{"op":"synced"}'].join('\n')}\n`);
  return `ndjson:${file}`;
}

async function run(command: unknown, argv: readonly string[], now?: number) {
  const shared = ['--map', pin, '--state-dir', state, '--json', '--quiet'];
  const result = await runCommand(command, [...argv, ...shared], {
    env: { CILIUM_SOCK: '/nonexistent/agent.sock' },
    ...(now !== undefined && { now }),
  });
  const report = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  if (report !== undefined) expectFits(report.kind, report);
  return { ...result, report };
}

const gc = (...argv: string[]) => run(Gc, ['--confirm', '0s', ...argv]);

/** Every entry, key and value in hex. */
async function bytes(): Promise<string[]> {
  using map = openPin(pin, { kernel });
  const found: string[] = [];
  for await (const batch of walkMap(map)) {
    for (let i = batch.firstNew; i < batch.count; i++) {
      found.push(`${hexOf(batch.keys, i * 24, 24)} ${hexOf(batch.values, i * 24, 24)}`);
    }
  }
  return found;
}

function pods(count: number): WordEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    prefix: `10.0.0.${i}/32`,
    identity: 1000 + i,
    tunnel: '192.0.2.9',
  }));
}

describe('ipc gc', () => {
  it('op 37: 20 of 100 go, and the printed command brings them back byte for byte', async () => {
    given([...pods(100), { prefix: '10.0.0.0/8', identity: 2 }]);
    const before = await bytes();
    const { exitCode, report } = await gc('--against', desired(pods(80)));
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      kind: 'gc',
      changed: true,
      complete: true,
      map: { owner: 'nobody', layout: 'v2' },
      summary: { entries: 101, stale: 20, deleted: 20, kept: 81, raced: 0, skipped: 1, conflicts: 0 },
    });
    expect(report.items[0]).toEqual({
      action: 'delete',
      prefix: '10.0.0.80/32',
      identity: 1080,
      reason: `not in ${desired(pods(80))}, twice, 0 s apart`,
      fallsTo: '10.0.0.0/8 world',
      done: true,
    });
    expect(await bytes()).toHaveLength(81);

    const words = (report.undo as string).split(' ');
    expect(words.slice(0, 2)).toEqual(['ipc', 'set']);
    const undo = await runCommand(SetCommand, [...words.slice(2), '--json', '--quiet'], {
      env: { CILIUM_SOCK: '/nonexistent/agent.sock' },
    });
    expect(JSON.parse(undo.stdout)).toMatchObject({ complete: true, summary: { added: 20, kept: 0 } });
    expect(await bytes()).toEqual(before);
    const again = await run(SetCommand, ['--from-backup', report.backup]);
    expect(again.report).toMatchObject({ changed: false, summary: { added: 0, kept: 20 } });
  });

  it('op 37: 40 of 100 are refused with a hint, and so is an empty file', async () => {
    given(pods(100));
    for (const [against, code] of [
      [desired(pods(60)), 'TOO_MANY'],
      [desired([]), 'SOURCE_EMPTY'],
    ] as const) {
      if (code === 'SOURCE_EMPTY') desired([]);
      else desired(pods(60));
      for (const dry of [[], ['--dry-run']]) {
        const result = await gc('--against', against, ...dry);
        expect(errorOf(result)).toMatchObject({ exitCode: 13, code, hint: expect.any(String) });
        expect(result.stdout).toBe('');
      }
    }
    expect(await bytes()).toHaveLength(100);
    desired(pods(60));
    expect((await gc('--against', desired(pods(60)), '--max-delete', '40%')).report.summary.deleted).toBe(40);
  });

  it('the limit is summed over an hour', async () => {
    given(pods(100));
    const now = Date.UTC(2026, 0, 2, 10);
    const run20 = (entries: number, minutes: number) =>
      run(Gc, ['--confirm', '0', '--against', desired(pods(entries))], now + minutes * 60_000);
    expect((await run20(80, 0)).report.summary.deleted).toBe(20);
    expect(readCheckpoint(state)?.collected).toEqual([
      { time: '2026-01-02T10:00:00.000Z', family: 'ipv4', scope: 'global', deleted: 20 },
    ]);
    expect(errorOf(await run20(79, 59))).toMatchObject({ exitCode: 13, code: 'TOO_MANY', deletedLately: 20 });
    expect((await run20(79, 61)).report.summary.deleted).toBe(1);
  });

  it('op 33: ingress stays, and is said with --all-items', async () => {
    given([...pods(10), { prefix: '10.244.2.5/32', identity: 8 }, { prefix: 'fd00::5/128', identity: 8 }]);
    const { report } = await gc('--against', desired(pods(9)), '--all-items');
    expect(report.summary).toMatchObject({ deleted: 1, skipped: 2 });
    expect(report.items.filter(({ action }: { action: string }) => action === 'skip')).toEqual([
      { action: 'skip', prefix: '10.244.2.5/32', identity: 8, reason: 'ingress', done: false },
      { action: 'skip', prefix: 'fd00::5/128', identity: 8, reason: 'ingress', done: false },
    ]);
  });

  it('op 38: --tunnel takes the pods and the address of the node, nothing else', async () => {
    given([
      { prefix: '10.4.0.1/32', identity: 1001, tunnel: '10.164.0.29' },
      { prefix: '10.164.0.29/32', identity: 6 },
      { prefix: '10.5.0.1/32', identity: 1001, tunnel: '10.164.0.30' },
    ]);
    const { report } = await gc('--tunnel', '10.164.0.29', '--assume-gone');
    expect(report.items.map(({ prefix, reason }: Record<string, string>) => `${prefix} ${reason}`)).toEqual([
      '10.4.0.1/32 of node 10.164.0.29, which is gone',
      '10.164.0.29/32 of node 10.164.0.29, which is gone',
    ]);
    expect(await bytes()).toHaveLength(1);
  });

  it('op 38: with a source only what it has not goes', async () => {
    const node: WordEntry[] = [
      { prefix: '10.4.0.1/32', identity: 1001, tunnel: '10.164.0.29' },
      { prefix: '10.4.0.2/32', identity: 1002, tunnel: '10.164.0.29' },
      { prefix: '10.5.0.1/32', identity: 1001, tunnel: '10.164.0.30' },
    ];
    given(node);
    const { report } = await gc(
      '--tunnel',
      '10.164.0.29',
      '--against',
      desired(node.slice(1, 2)),
      '--max-delete',
      '100%',
    );
    expect(report.items.map(({ prefix }: { prefix: string }) => prefix)).toEqual(['10.4.0.1/32']);
  });

  it('op 39: --orphans takes local numbers that no checkpoint has', async () => {
    given([
      { prefix: '192.0.2.0/24', identity: 16_777_217 },
      { prefix: '192.0.3.0/24', identity: 16_777_218 },
      { prefix: '10.0.0.1/32', identity: 1234 },
    ]);
    const file = join(folder, 'local_allocator_state.json');
    writeFileSync(file, '[{"id":16777217,"labels":{"cidr:192.0.2.0/24":{"key":"192.0.2.0/24","source":"cidr"}}}]\n');
    const orphans = ['--orphans', '--allocator-state', file, '--max-delete', '50%'];
    const { report } = await gc(...orphans);
    expect(report.items).toMatchObject([
      {
        action: 'delete',
        prefix: '192.0.3.0/24',
        identity: 16_777_218,
        reason: 'not in any checkpoint, twice, 0 s apart',
      },
    ]);
    writeFileSync(file, '[]\n');
    expect(errorOf(await gc(...orphans))).toMatchObject({ exitCode: 13, code: 'SOURCE_EMPTY' });
    rmSync(file);
    expect(errorOf(await gc(...orphans))).toMatchObject({ exitCode: 3, code: 'CHECKPOINT_NOT_FOUND' });
    expect(await bytes()).toHaveLength(2);
  });

  it('works against a snapshot', async () => {
    const { default: Snapshot } = await import('../../../src/commands/snapshot.ts');
    given(pods(9));
    const file = join(folder, 'snapshot.ndjson');
    expect((await runCommand(Snapshot, [file, '--map', pin, '--state-dir', state, '--quiet'])).exitCode).toBe(0);
    rmSync(pin);
    given(pods(10));
    const { report } = await gc('--against', `snapshot:${file}`);
    expect(report.items.map(({ prefix }: { prefix: string }) => prefix)).toEqual(['10.0.0.9/32']);
  });

  it('without a desired state it says what there is to choose from', async () => {
    given(pods(1));
    for (const argv of [
      [],
      ['--tunnel', '192.0.2.9'],
      ['--assume-gone'],
      ['--assume-gone', '--orphans', '--tunnel', '192.0.2.9'],
    ]) {
      const error = errorOf(await gc(...argv));
      expect(error).toMatchObject({ exitCode: 2, code: 'NO_DESIRED_STATE' });
      expect(error.hint).toMatch(/--tunnel|--assume-gone/);
    }
  });

  it('a source that is not there, or damaged, deletes nothing', async () => {
    given(pods(10));
    expect((await gc('--against', `ndjson:${folder}/nothing`)).exitCode).toBe(3);
    writeFileSync(
      join(folder, 'bad.ndjson'),
      '{"op":"upsert","prefix":"10.0.0.1/32","identity":1,"source":"api"}\n{"op"\n',
    );
    expect((await gc('--against', `ndjson:${folder}/bad.ndjson`)).exitCode).toBe(9);
    writeFileSync(join(folder, 'begun.ndjson'), '{"op":"upsert","prefix":"10.0.0.1/32","identity":1,"source":"api"}\n');
    const begun = errorOf(await gc('--against', `ndjson:${folder}/begun.ndjson`, '--max-delete', '100%'));
    expect(begun).toMatchObject({ exitCode: 8, code: 'SOURCE_NOT_SYNCED' });
    expect(await bytes()).toHaveLength(10);
  });

  it('op 39c: refuses on the map of an agent, also when dry', async () => {
    using map = pinnedIpcache(kernel, pin, pods(10));
    using _program = loadProgram(kernel, { fd: map.fd, keyBytes: 24 }, 'cil_test');
    for (const argv of [
      ['--against', desired(pods(9))],
      ['--tunnel', '192.0.2.9', '--assume-gone'],
    ]) {
      for (const dry of [[], ['--dry-run']]) {
        const error = errorOf(await gc(...argv, ...dry));
        expect(error).toMatchObject({
          exitCode: 13,
          code: 'OWNED_BY_AGENT',
          message: expect.stringContaining('cil_test'),
        });
        expect(error.hint).toContain('--against agent');
      }
    }
    expect(await bytes()).toHaveLength(10);
  });

  it('a dry run leaves map, state directory and backups as they are', async () => {
    given(pods(10));
    const { exitCode, report } = await gc('--against', desired(pods(9)), '--dry-run');
    expect({ exitCode, deleted: report.summary.deleted, stale: report.summary.stale }).toEqual({
      exitCode: 0,
      deleted: 0,
      stale: 1,
    });
    expect(report).not.toHaveProperty('backup');
    expect(await bytes()).toHaveLength(10);
    expect(readdirSync(folder)).toEqual(['desired.ndjson']);
  });

  it('nothing stale is no change and no backup', async () => {
    given(pods(10));
    const { exitCode, report } = await gc('--against', desired(pods(10)));
    expect({ exitCode, changed: report.changed }).toEqual({ exitCode: 0, changed: false });
    expect(report).not.toHaveProperty('backup');
  });

  it('an entry with host bits and unknown flags comes back as it was', async () => {
    given(pods(10));
    const odd = entryBytes('v2', { prefix: '10.8.0.0/16', identity: 1001, flags: 0xf0 });
    odd.key[11] = 9;
    using map = openPin(pin, { kernel, write: true });
    map.update(odd.key, odd.value);
    map[Symbol.dispose]();
    const before = await bytes();
    const { report } = await gc('--against', desired(pods(10)));
    expect(report.items.map(({ prefix }: { prefix: string }) => prefix)).toEqual(['10.8.0.0/16']);
    expect((await run(SetCommand, ['--from-backup', report.backup])).exitCode).toBe(0);
    expect(await bytes()).toEqual(before);
  });
});
