import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { MalformedError, UnreachableError } from '../../../src/lib/errors.ts';
import { openNdjson } from '../../../src/lib/sources/ndjson.ts';
import type { PlainUpsert } from '../../../src/lib/sources/plain-upsert.ts';
import type { Source, SourceEvent, SourceRecord } from '../../../src/lib/sources/source.ts';

const upsert = (prefix: string, identity: number): string => `${JSON.stringify({ op: 'upsert', prefix, identity })}\n`;
const SYNCED = '{"op":"synced"}\n';

function newStream(): { input: PassThrough; source: Source } {
  const input = new PassThrough();
  return { input, source: openNdjson({ name: 'pipe', rank: 'api', path: '-', stdin: () => input }) };
}

async function keys(source: Source, timeoutMs = 1000): Promise<string[]> {
  const records: SourceRecord[] = [];
  await source.read((record) => records.push(record), { timeoutMs });
  return records.map(({ key }) => key).sort();
}

describe('a stream as a source', () => {
  test('is complete when it says so; later readings have what it said until then', async () => {
    const { input, source } = newStream();
    input.write(upsert('10.0.0.1', 5));
    const first = keys(source);
    input.write(upsert('10.0.0.2', 5) + SYNCED);
    expect(await first).toEqual(['10.0.0.1', '10.0.0.2']);
    input.write(upsert('10.0.0.3', 5));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await keys(source)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    input.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await keys(source)).toHaveLength(3);
    await source[Symbol.asyncDispose]();
  });

  test('that is followed tells upserts without an object each, and speaks for what it told that way', async () => {
    const { input, source } = newStream();
    const told: string[] = [];
    const end = new AbortController();
    const sink = {
      event: (event: SourceEvent) => told.push(`event ${event.op}`),
      upsert: ({ key, identity }: PlainUpsert) => told.push(`${key.text()} ${identity}`),
      synced: () => end.abort(),
      lost: () => {},
    };
    input.write(upsert('10.0.0.1', 5) + upsert('10.0.0.2', 6) + upsert('fd00::1', 16_777_217) + SYNCED);
    await source.follow(sink, end);
    expect(told).toEqual(['event upsert', '10.0.0.2 6', 'fd00::1 16777217']);
    const speaks = (['ipv4', 'ipv6'] as const).map((family) => source.speaksFor('local', family, 0));
    expect(speaks).toEqual([false, true]);
    await source[Symbol.asyncDispose]();
  });

  test('that ends before it was complete is not believed', async () => {
    const { input, source } = newStream();
    input.end(upsert('10.0.0.1', 5));
    await expect(keys(source)).rejects.toThrow(UnreachableError);
    await expect(keys(source)).rejects.toThrow('it ended before it said that it was complete');
  });

  test('that stays silent is given up in time', async () => {
    const { source } = newStream();
    const error = await keys(source, 20).catch((error: unknown) => error);
    expect(error).toMatchObject({ exitCode: 8, code: 'SOURCE_NOT_SYNCED' });
    await source[Symbol.asyncDispose]();
  });

  test('with a bad line is refused, also when that comes after the first reading', async () => {
    const { input, source } = newStream();
    input.write(upsert('10.0.0.1', 5) + SYNCED);
    expect(await keys(source)).toEqual(['10.0.0.1']);
    input.write('nonsense\n');
    await new Promise((resolve) => setImmediate(resolve));
    await expect(keys(source)).rejects.toThrow(MalformedError);
  });

  test('is followed until it ends', async () => {
    const { input, source } = newStream();
    const said: string[] = [];
    input.end(upsert('10.0.0.1', 5) + SYNCED + upsert('10.0.0.2', 5));
    const { signal } = new AbortController();
    await source.follow(
      {
        event: (event) => said.push(event.op === 'upsert' ? event.record.key : event.op),
        synced: () => said.push('synced'),
        lost: (reason) => said.push(reason),
      },
      { signal },
    );
    expect(said).toEqual(['10.0.0.1', 'synced', '10.0.0.2', '- has ended']);
    expect(source.speaksFor('reserved', 'ipv4', 0)).toBe(true);
  });

  test('a FIFO outlives the writers that come and go', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ipc-fifo-'));
    const path = join(directory, 'feed');
    execFileSync('mkfifo', [path]);
    const source = openNdjson({ name: 'fifo', rank: 'api', path, stdin: () => new PassThrough() });
    const reading = keys(source, 10_000);
    const write = (text: string): Promise<void> =>
      new Promise((resolve) => createWriteStream(path).end(text, () => resolve()));
    await write(upsert('10.0.0.1', 5));
    await write(upsert('10.0.0.2', 5) + SYNCED);
    expect(await reading).toEqual(['10.0.0.1', '10.0.0.2']);
    await source[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });
});
