import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Release from '../../../src/commands/release.ts';
import Restore from '../../../src/commands/restore.ts';
import Status from '../../../src/commands/status.ts';
import { unpin } from '../../../src/lib/bpf/pin.ts';
import { listBackups } from '../../../src/lib/state/backup.ts';
import { bpfDescriptors } from '../../support/real-kernel.ts';
import { Site } from '../../support/restore-site.ts';
import { errorOf } from '../../support/run-command.ts';

const AT = Date.UTC(2026, 0, 2, 3);
const LATER = { now: AT + 31_000 };

let site: Site;
let before: number;
beforeEach(() => {
  before = bpfDescriptors();
  site = new Site('release');
});
afterEach(() => {
  site[Symbol.dispose]();
  expect(bpfDescriptors()).toBe(before);
});

const FIVE = Array.from({ length: 5 }, (_, i) => ({ prefix: `198.51.${i}.0/24`, identity: 16777220 + i }));
const INGRESS = { prefix: '10.244.2.5/32', identity: 8 };

async function restored(entries = [...FIVE, INGRESS, { prefix: '198.0.0.0/8', identity: 2 }]): Promise<void> {
  site.map(entries);
  await site.report(Restore, ['--map', site.pin, '--allocator-state', site.allocator('null')], 0, { now: AT });
}

function claims(entries: readonly { prefix: string; identity: number }[]): string {
  const lines = entries.map(({ prefix, identity }) =>
    JSON.stringify({ op: 'upsert', prefix, identity, source: 'generated' }),
  );
  const path = site.file('claims.ndjson');
  writeFileSync(path, `${[...lines, '{"op":"synced"}'].join('\n')}\n`);
  return `ndjson:${path}`;
}

const remembered = (): number[] => site.state.identities.map(({ identity }) => identity);

describe('ipc release', () => {
  it('before the grace period is over prints the plan and the time, and changes nothing', async () => {
    await restored();
    const text = site.stateText;
    const report = await site.report(Release, ['--claims', claims([])], 0, { now: AT + 10_000 });
    expect(report).toMatchObject({ changed: false, releaseAt: new Date(AT + 30_000).toISOString() });
    expect(report.released).toBeUndefined();
    expect(site.stateText).toBe(text);
    expect(Object.keys(await site.numbers())).toHaveLength(7);
  });

  it('op 35: with all five claimed nothing is freed, and calling it again does nothing', async () => {
    await restored();
    const report = await site.report(Release, ['--claims', claims(FIVE)], 0, LATER);
    expect(report).toMatchObject({ changed: false, summary: { placeholders: 5, claimed: 5, deleted: 0, freed: 0 } });
    expect(report.items.map(({ reason }) => reason)).toEqual(
      Array(5).fill(expect.stringMatching(/^claimed: by ndjson:/)),
    );
    expect(remembered()).toEqual(FIVE.map(({ identity }) => identity));
    expect(site.state.placeholders).toEqual([]);
    const text = site.stateText;
    expect(await site.report(Release, ['--now'], 0, LATER)).toMatchObject({
      changed: false,
      summary: { placeholders: 0 },
    });
    expect(JSON.parse(site.stateText ?? '').placeholders).toEqual(JSON.parse(text ?? '').placeholders);
  });

  it('op 35: the identity of the one that is not in the map any more is freed, and exactly that', async () => {
    await restored();
    site.map(FIVE.slice(1));
    const report = await site.report(Release, ['--claims', claims(FIVE.slice(1))], 0, LATER);
    expect(report.summary).toMatchObject({ claimed: 4, gone: 1, deleted: 0, freed: 1 });
    expect(remembered()).toEqual(FIVE.slice(1).map(({ identity }) => identity));
  });

  it('without claims deletes nothing that is in the map: only the reservation ends', async () => {
    await restored();
    const report = await site.report(Release, [], 0, LATER);
    expect(report).toMatchObject({ changed: false, summary: { unknown: 5, deleted: 0, freed: 0 } });
    expect(report.warnings?.join()).toContain('no source of claims');
    expect(Object.keys(await site.numbers())).toHaveLength(7);
    expect(remembered()).toEqual(FIVE.map(({ identity }) => identity));
  });

  it('deletes what nobody claims, says what it falls to, keeps a backup, and never touches ingress', async () => {
    await restored();
    const report = await site.report(Release, ['--claims', claims(FIVE.slice(0, 3))], 0, LATER);
    expect(report).toMatchObject({ changed: true, summary: { claimed: 3, deleted: 2, freed: 2 } });
    const deleted = report.items.filter(({ action }) => action === 'delete');
    expect(deleted.map(({ prefix, fallsTo, done }) => [prefix, fallsTo, done])).toEqual([
      ['198.51.3.0/24', '198.0.0.0/8 world', true],
      ['198.51.4.0/24', '198.0.0.0/8 world', true],
    ]);
    expect(Object.keys(await site.numbers()).sort()).toEqual(
      ['10.244.2.5/32', '198.0.0.0/8', ...FIVE.slice(0, 3).map(({ prefix }) => prefix)].sort(),
    );
    expect(listBackups(site.stateDir)).toHaveLength(1);
    expect(site.state.ingress).toEqual(['10.244.2.5/32']);
  });

  it('leaves an entry alone that has another number by now', async () => {
    await restored();
    site.map([{ ...FIVE[0], prefix: '198.51.0.0/24', identity: 16777999 }, ...FIVE.slice(1)]);
    const report = await site.report(Release, ['--claims', claims(FIVE.slice(1))], 0, LATER);
    expect(report.summary).toMatchObject({ changed: 1, deleted: 0 });
    expect((await site.numbers())['198.51.0.0/24']).toBe(16777999);
  });

  it('fails with 8 when the claims have no end, and changes nothing', async () => {
    await restored();
    const { exitCode } = await site.run(
      Release,
      ['--claims', `unix:${site.file('x.sock')}`, '--timeout', '300ms'],
      LATER,
    );
    expect(exitCode).toBe(8);
    writeFileSync(site.file('cut.ndjson'), '{"op":"upsert","prefix":"198.51');
    expect((await site.run(Release, ['--claims', `ndjson:${site.file('cut.ndjson')}`], LATER)).exitCode).toBe(9);
    const begun = FIVE.map((entry) => JSON.stringify({ op: 'upsert', ...entry, source: 'generated' })).join('\n');
    writeFileSync(site.file('begun.ndjson'), `${begun}\n`);
    const open = await site.run(Release, ['--claims', `ndjson:${site.file('begun.ndjson')}`, '--json'], LATER);
    expect(open.exitCode).toBe(8);
    expect(errorOf(open)).toMatchObject({ code: 'SOURCE_NOT_SYNCED', hint: expect.stringContaining('"synced"') });
    const piped = await site.run(Release, ['--claims', 'ndjson:-'], { ...LATER, stdin: `${begun}\n` });
    expect(piped.exitCode).toBe(8);
    expect(site.state.placeholders).toHaveLength(5);
    expect(Object.keys(await site.numbers())).toHaveLength(7);
  });

  it('says what it cannot ask, and what it knows nothing of', async () => {
    expect((await site.run(Release, [], LATER)).exitCode).toBe(3);
    await restored();
    expect((await site.run(Release, ['--claims', 'nonsense'], LATER)).exitCode).toBe(2);
  });

  it('waits with --wait', async () => {
    await restored();
    const report = await site.report(Release, ['--wait', '--grace-period', '200ms'], 0, { now: AT });
    expect(report.released).toBeDefined();
  });
});

describe('ipc status', () => {
  const status = (argv: string[] = [], exit = 0) => site.report(Status, ['--socket', '', ...argv], exit, LATER);

  it('is ready after a restore, says when it is released, and is not ready when the map was replaced', async () => {
    await restored();
    expect(await status()).toMatchObject({ ready: true, placeholders: 5, restored: { due: true } });
    site.map(FIVE);
    expect(await status([], 10)).toMatchObject({ ready: false, reasons: [expect.stringContaining('another map')] });
    unpin(site.pin);
    expect(await status([], 10)).toMatchObject({ ready: false });
  });

  it('has no state to tell of with 3, and names the sources of values', async () => {
    expect((await site.run(Status, ['--socket', ''], LATER)).exitCode).toBe(3);
    await restored();
    const report = await status(['--config-sources']);
    expect(report.config).toContainEqual({ flag: 'state-dir', value: site.stateDir, from: 'command line' });
    expect(report.config).toContainEqual({ flag: 'timeout', value: 5000, from: 'default' });
  });
});
