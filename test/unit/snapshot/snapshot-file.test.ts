import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MalformedError, NotFoundError } from '../../../src/lib/errors.ts';
import { gzipTo } from '../../../src/lib/snapshot/gzip-writer.ts';
import { findDamage, visitRows } from '../../../src/lib/snapshot/read-rows.ts';
import { openSnapshot } from '../../../src/lib/snapshot/snapshot-reader.ts';
import { writeSnapshot } from '../../../src/lib/snapshot/write-snapshot.ts';
import { entryLine, entryValues, HEADER, snapshotText } from '../../support/snapshot-lines.ts';

let dir: string;
let file: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ipc-test-'));
  file = join(dir, 'snapshot.ndjson');
});
afterAll(() => rmSync(dir, { recursive: true }));

const IDENTITIES = [
  { identity: 16777217, labels: ['cidr:10.0.0.0/24', 'reserved:world-ipv4'] },
  { identity: 16777218, labels: ['fqdn:example.com'] },
];

async function readAll(path: string) {
  await using reader = await openSnapshot(path);
  const prefixes: string[] = [];
  await visitRows(reader, (row) => prefixes.push(row.prefixText()));
  return { header: reader.header, identities: [...reader.identities], prefixes, end: reader.end };
}

async function failure(text: string | Uint8Array): Promise<MalformedError> {
  writeFileSync(file, text);
  return await openSnapshot(file)
    .then(findDamage)
    .then(
      () => expect.unreachable('the damage was not seen'),
      (error) => error,
    );
}

describe('writeSnapshot() and openSnapshot()', () => {
  it('give back what was written, plain and gzip, whatever the name says', async () => {
    await fc.assert(
      fc.asyncProperty(entryValues, fc.boolean(), async (values, compressed) => {
        const parts: Buffer[] = [];
        const gzip = gzipTo((bytes) => void parts.push(Buffer.from(bytes)));
        const write = compressed ? gzip.write : (bytes: Uint8Array) => void parts.push(Buffer.from(bytes));
        const entries = values.map((value) => Buffer.from(`${entryLine(value)}\n`));
        const content = { header: HEADER, identities: IDENTITIES, entries, complete: () => false };
        const end = await writeSnapshot(content, write);
        if (compressed) await gzip.end();
        writeFileSync(file, Buffer.concat(parts));
        expect(await readAll(file)).toEqual({
          header: HEADER,
          identities: IDENTITIES,
          prefixes: values.map((value) => value.prefix),
          end,
        });
        expect(end).toMatchObject({ identities: 2, entries: values.length, complete: false });
      }),
      { numRuns: 40 },
    );
  });

  it('reads a file of more than one block, and gzip of several members', async () => {
    const values = Array.from({ length: 30_000 }, (_, i) => ({
      prefix: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`,
      family: 'ipv4' as const,
      identity: 300,
      encryptKey: 0,
      flags: 0,
    }));
    const text = snapshotText({ entries: values });
    expect(text.length).toBeGreaterThan(2 << 20);
    writeFileSync(file, text);
    expect((await readAll(file)).prefixes).toHaveLength(30_000);
    writeFileSync(file, Buffer.concat([gzipSync(text.slice(0, 1000)), gzipSync(text.slice(1000))]));
    expect((await readAll(file)).end.entries).toBe(30_000);
    expect(gunzipSync(readFileSync(file)).toString()).toBe(text);
  });
});

describe('findDamage()', () => {
  const entries = ['10.0.0.0/8', '10.0.0.0/24', '10.0.1.0/24'].map((prefix) => ({
    prefix,
    family: 'ipv4' as const,
    identity: 300,
    encryptKey: 0,
    flags: 0,
  }));
  const text = snapshotText({ identities: IDENTITIES, entries });
  const lines = text.trimEnd().split('\n');

  it('finds none in a sound file', async () => {
    writeFileSync(file, text);
    await expect(openSnapshot(file).then(findDamage)).resolves.toBeUndefined();
  });

  it('names the line after which a file was cut off, wherever it was cut', async () => {
    for (let length = 0; length < text.length - 1; length += 3) {
      const error = await failure(text.slice(0, length));
      expect(error).toBeInstanceOf(MalformedError);
      const whole = text.slice(0, length).split('\n').length - 1;
      if (length === 0) expect(error.message).toContain('it is empty');
      else if (whole > 0) expect(error.message, `cut after ${length}`).toContain(`cut off after line ${whole},`);
    }
  });

  it('names the last good line of a gzip file that was cut off', async () => {
    const many = snapshotText({
      entries: Array.from({ length: 20_000 }, (_, i) => ({
        prefix: `10.0.${i >> 8}.${i & 255}/32`,
        family: 'ipv4' as const,
        identity: 300 + ((i * 7919) % 5000),
        encryptKey: 0,
        flags: 0,
      })),
    });
    const compressed = gzipSync(many);
    const error = await failure(compressed.subarray(0, compressed.length / 2));
    expect(error.code).toBe('SNAPSHOT_CUT_OFF');
    expect(error.operands.line).toBeGreaterThan(5_000);
    // Damage at the start is seen by the decompressor, in the middle it may only be seen as a bad line.
    for (const at of [12, compressed.length >> 1]) {
      const broken = Buffer.from(compressed);
      broken.fill(0x55, at, at + 50);
      expect((await failure(broken)).exitCode).toBe(9);
    }
  });

  it.each([
    ['not JSON', 3, (line: string) => line.slice(1), '', 'is not JSON'],
    ['an unknown field', 4, (line: string) => line.replace('"family"', '"familie"'), 'family', 'is missing'],
    ['a number out of range', 5, (line: string) => line.replace('300', '4294967296'), 'identity', 'is not from 0 to'],
    ['no labels', 3, (line: string) => line.replace('"fqdn:example.com"', ''), 'labels', 'has fewer than 1 items'],
    [
      'entries out of order',
      6,
      (line: string) => line.replace('10.0.1.0', '10.0.0.0'),
      'prefix',
      'does not come after',
    ],
    ['identities out of order', 3, (line: string) => line.replace('18', '16'), 'identity', 'is not larger'],
    ['a wrong time', 1, (line: string) => line.replace('T03', ' 03'), 'time', 'does not match'],
    ['a wrong count', 7, (line: string) => line.replace('"entries":3', '"entries":4'), 'entries', 'is not how many'],
    ['host bits', 5, (line: string) => line.replace('10.0.0.0', '10.0.0.7'), 'prefix', 'is not a canonical prefix'],
  ])('names line and field of %s', async (_what, number, change, field, problem) => {
    const damaged = lines.map((line, i) => (i + 1 === number ? change(line) : line));
    const error = await failure(`${damaged.join('\n')}\n`);
    expect(error.exitCode).toBe(9);
    expect(error.operands).toEqual({ file, line: number, ...(field !== '' && { field }) });
    expect(error.message).toContain(problem);
  });

  it('sees a changed value that is sound by itself', async () => {
    expect((await failure(text.replace('"identity":300', '"identity":301'))).operands).toEqual({
      file,
      field: 'sha256',
    });
  });

  it('refuses newer versions and other files, and says which', async () => {
    const newer = await failure(text.replace('"schemaVersion":1', '"schemaVersion":2'));
    expect(newer).toMatchObject({ code: 'NEWER_SCHEMA', exitCode: 9 });
    for (const other of ['[1]\n', '{"kind":"x"}\n', 'hello', '\0\0\0\0']) {
      expect((await failure(other)).code, JSON.stringify(other)).toBe('NOT_A_SNAPSHOT');
    }
    await expect(openSnapshot(join(dir, 'none'))).rejects.toBeInstanceOf(NotFoundError);
  });
});
