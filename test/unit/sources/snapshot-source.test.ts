import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MalformedError, NotFoundError, UnreachableError } from '../../../src/lib/errors.ts';
import { SnapshotSource } from '../../../src/lib/sources/snapshot-source.ts';
import type { SourceEvent, SourceRecord } from '../../../src/lib/sources/source.ts';
import { type EntryValue, type SnapshotParts, snapshotText } from '../../support/snapshot-lines.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-snapshot-source-'));
  path = join(directory, 'a.snap');
});
afterEach(() => rmSync(directory, { recursive: true }));

const entry = (prefix: string, identity: number, more: Partial<EntryValue> = {}): EntryValue => ({
  prefix,
  family: prefix.includes(':') ? 'ipv6' : 'ipv4',
  identity,
  encryptKey: 0,
  flags: 0,
  ...more,
});

function newSource(parts: SnapshotParts): SnapshotSource {
  writeFileSync(path, snapshotText(parts));
  return new SnapshotSource({ name: 'before', rank: 'restored', path });
}

async function readAll(source: SnapshotSource) {
  const records: SourceRecord[] = [];
  const reading = await source.read((record) => records.push(record), { timeoutMs: 20_000 });
  return { reading, records };
}

const ENTRIES = [
  entry('10.0.0.0/24', 16777217),
  entry('10.0.1.7/32', 41234, { tunnelEndpoint: '192.0.2.10', encryptKey: 3, flags: 10 }),
];
const IDENTITIES = [{ identity: 16777217, labels: ['cidr:10.0.0.0/24', 'reserved:world-ipv4'] }];

describe('SnapshotSource', () => {
  test('read() visits every entry with labels, tunnel and flags as the map had them', async () => {
    const source = newSource({ entries: ENTRIES, identities: IDENTITIES });
    const { reading, records } = await readAll(source);
    expect(records).toEqual([
      {
        key: '10.0.0.0/24',
        identity: 16777217,
        source: 'restored',
        labels: ['cidr:10.0.0.0/24', 'reserved:world-ipv4'],
        encryptKey: 0,
        flags: 0,
      },
      {
        key: '10.0.1.7/32',
        identity: 41234,
        source: 'restored',
        tunnelEndpoint: '192.0.2.10',
        encryptKey: 3,
        flags: 10,
      },
    ]);
    expect(reading).toEqual({ revision: expect.stringMatching(/^[0-9a-f]{64}$/), records: 2 });
    expect((await readAll(source)).reading.revision).toBe(reading.revision);
  });

  test('speaksFor() the kinds of entry that occur', async () => {
    const source = newSource({ entries: ENTRIES });
    await readAll(source);
    expect(source.speaksFor('local', 'ipv4', 0)).toBe(true);
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(true);
    expect(source.speaksFor('remote-node', 'ipv4', 0)).toBe(false);
    expect(source.speaksFor('local', 'ipv6', 0)).toBe(false);
    expect(source.speaksFor('local', 'ipv4', 1)).toBe(false);
  });

  test('read() refuses an incomplete walk, a damaged file and a missing one', async () => {
    await expect(readAll(newSource({ entries: ENTRIES, complete: false }))).rejects.toThrow(UnreachableError);
    writeFileSync(path, snapshotText({ entries: ENTRIES }).slice(0, -40));
    await expect(readAll(new SnapshotSource({ name: 'x', rank: 'restored', path }))).rejects.toThrow(MalformedError);
    rmSync(path);
    await expect(readAll(new SnapshotSource({ name: 'x', rank: 'restored', path }))).rejects.toThrow(NotFoundError);
  });

  test('follow() tells hosts instead of tunnels, then that this is all', async () => {
    const events: (SourceEvent | string)[] = [];
    await newSource({ entries: ENTRIES }).follow(
      {
        event: (event) => events.push(event),
        synced: () => events.push('synced'),
        lost: (reason) => events.push(reason),
      },
      { signal: new AbortController().signal },
    );
    expect(events).toEqual([
      { op: 'upsert', record: expect.objectContaining({ key: '10.0.0.0/24', endpointFlags: 0 }) },
      {
        op: 'upsert',
        record: {
          key: '10.0.1.7/32',
          identity: 41234,
          source: 'restored',
          hostIP: '192.0.2.10',
          encryptKey: 3,
          endpointFlags: 8,
        },
      },
      'synced',
    ]);
  });

  test('readPrefixes() gives what was prepared only while the file is the same', async () => {
    const options = { timeoutMs: 20_000 };
    const lengths = async (source: SnapshotSource): Promise<number[]> => {
      const found: number[] = [];
      const { records } = await source.readPrefixes((sortKey) => found.push(sortKey[19] as number), options);
      expect(found).toHaveLength(records);
      return found;
    };
    const source = newSource({ entries: ENTRIES, identities: IDENTITIES });
    source.prepare(options);
    expect(await lengths(source)).toEqual([24, 32]);
    expect(source.isUnchanged()).toBe(true);
    expect(source.speaksFor('local', 'ipv4', 0)).toBe(true);

    source.prepare(options);
    await new Promise((resolve) => setTimeout(resolve, 50));
    newSource({ entries: ENTRIES.slice(0, 1), identities: IDENTITIES });
    expect(await lengths(source)).toEqual([24]);
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(false);

    source.prepare(options);
    rmSync(path);
    await expect(lengths(source)).rejects.toThrow(NotFoundError);
  });
});
