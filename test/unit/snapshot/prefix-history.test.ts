import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { EntryRow } from '../../../src/lib/snapshot/entry-row.ts';
import { findRow } from '../../../src/lib/snapshot/find-row.ts';
import { readHistory } from '../../../src/lib/snapshot/prefix-history.ts';
import { openSnapshot } from '../../../src/lib/snapshot/snapshot-reader.ts';
import {
  type EntryValue,
  entryValues,
  type SnapshotParts,
  snapshotText,
  sortEntries,
} from '../../support/snapshot-lines.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-history-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const signal = new AbortController().signal;

function rowOf(prefix: string, identity = 0): EntryRow {
  const row = new EntryRow();
  const { family, clusterId, address, length } = parsePrefix(prefix);
  row.setPrefix(family, clusterId, address, length);
  row.identity = identity;
  return row;
}

const entry = (prefix: string, identity: number): EntryValue => ({
  prefix,
  family: 'ipv4',
  identity,
  encryptKey: 0,
  flags: 0,
});

/** Hour by hour, each with the identity of 10.0.0.0/8 or without it. */
function file(hour: number, identity: number | undefined, parts: Partial<SnapshotParts> = {}): void {
  const time = new Date(Date.UTC(2026, 0, 2, hour)).toISOString();
  const entries = [
    entry('9.0.0.0/8', 1),
    ...(identity === undefined ? [] : [entry('10.0.0.0/8', identity)]),
    entry('11.0.0.0/8', 1),
  ];
  const text = snapshotText({ entries, ...parts, header: { time, ...parts.header } });
  // Names do not tell the order.
  if (hour % 2 === 0) writeFileSync(join(directory, `${99 - hour}.ndjson.gz`), gzipSync(text));
  else writeFileSync(join(directory, `${hour}.ndjson`), text);
}

const history = (identity: number | undefined) =>
  readHistory({ directory, present: rowOf('10.0.0.0/8', identity), absent: identity === undefined, signal });
const at = (hour: number) => new Date(Date.UTC(2026, 0, 2, hour)).toISOString();

describe('readHistory()', () => {
  it('finds since when a value stands and what it was before', async () => {
    for (const [hour, identity] of [500, 500, 600, 700, 700, 700].entries()) file(hour, identity);
    const found = await history(700);
    expect(found).toMatchObject({ read: 4, newest: at(5), by: at(3), after: at(2), skipped: [] });
    expect(found.before?.identity).toBe(600);
  });

  it('says that a value is newer than the newest snapshot', async () => {
    file(1, 500);
    const found = await history(700);
    expect([found.by, found.after, found.before?.identity]).toEqual([undefined, at(1), 500]);
  });

  it('knows when a prefix came and when it went', async () => {
    file(1, undefined);
    file(2, 500);
    expect(await history(500)).toMatchObject({ by: at(2), after: at(1) });
    expect((await history(500)).before).toBeUndefined();
    const gone = await history(undefined);
    expect([gone.by, gone.after, gone.before?.identity]).toEqual([undefined, at(2), 500]);
  });

  it('says when all of them have the value, and when there is none', async () => {
    expect(await history(500)).toEqual({ read: 0, skipped: [] });
    file(1, 500);
    file(2, 500);
    expect(await history(500)).toEqual({ read: 2, newest: at(2), by: at(1), skipped: [] });
  });

  it('leaves out what says nothing: damaged, redacted, incomplete and without the prefix; other files do not count', async () => {
    file(1, 400);
    file(2, undefined, { complete: false });
    file(3, 400, { header: { redacted: true } });
    file(4, 500, { complete: false });
    writeFileSync(join(directory, 'damaged.ndjson'), `${snapshotText({ header: { time: at(5) } }).slice(0, 100)}`);
    writeFileSync(join(directory, 'notes.txt'), 'x');
    const found = await history(500);
    expect([found.by, found.after, found.read]).toEqual([at(4), at(1), 2]);
    expect(found.skipped.map(({ reason }) => reason)).toEqual([
      'it is redacted',
      expect.stringContaining('damaged.ndjson'),
      'it does not cover its map and does not have the prefix',
    ]);
  });

  it('refuses a directory that is not there', async () => {
    const missing = readHistory({ directory: join(directory, 'no'), present: rowOf('::/0'), absent: true, signal });
    await expect(missing).rejects.toMatchObject({ exitCode: 3 });
  });
});

describe('findRow()', () => {
  it('finds every entry and nothing else, as reading all would', async () => {
    const name = join(directory, 'any.ndjson');
    await fc.assert(
      fc.asyncProperty(entryValues, async (values) => {
        writeFileSync(name, snapshotText({ entries: values }));
        for (const value of values) {
          await using reader = await openSnapshot(name);
          const found = await findRow(reader, rowOf(value.prefix));
          expect(found).toMatchObject({ identity: value.identity, encryptKey: value.encryptKey, flags: value.flags });
        }
        await using reader = await openSnapshot(name);
        expect(await findRow(reader, rowOf('203.0.113.0/24'))).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  it('finds entries in a file of many blocks, and the line that is damaged', async () => {
    const name = join(directory, 'large.ndjson');
    const entries = sortEntries(
      Array.from({ length: 30_000 }, (_, i) => entry(`10.${i >> 8}.${i & 255}.0/24`, 1000 + i)),
    );
    const text = snapshotText({ entries });
    writeFileSync(name, text);
    for (const i of [0, 12_345, 29_999]) {
      await using reader = await openSnapshot(name);
      expect(await findRow(reader, rowOf(`10.${i >> 8}.${i & 255}.0/24`))).toMatchObject({ identity: 1000 + i });
    }
    writeFileSync(name, text.replace('"10.100.48.0/24"', '"10.100.48.1/24"'));
    await using reader = await openSnapshot(name);
    await expect(findRow(reader, rowOf('10.100.49.0/24'))).rejects.toMatchObject({
      operands: { line: 2 + (100 << 8) + 48, field: 'prefix' },
    });
  });
});
