import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MalformedError, NotFoundError } from '../../../src/lib/errors.ts';
import { NdjsonFile } from '../../../src/lib/sources/ndjson-file.ts';
import type { SourceRecord, SourceSink } from '../../../src/lib/sources/source.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-ndjson-'));
  path = join(directory, 'feed.ndjson');
});
afterEach(() => rmSync(directory, { recursive: true }));

const upsert = (prefix: string, identity: number): string => `${JSON.stringify({ op: 'upsert', prefix, identity })}\n`;
const remove = (prefix: string): string => `${JSON.stringify({ op: 'delete', prefix })}\n`;
const SYNCED = '{"op":"synced"}\n';

function newSource(more: Partial<ConstructorParameters<typeof NdjsonFile>[0]> = {}): NdjsonFile {
  return new NdjsonFile({ name: 'feed', rank: 'api', path, ...more });
}

async function readAll(source: NdjsonFile) {
  const records: SourceRecord[] = [];
  const reading = await source.read((record) => records.push(record), { timeoutMs: 20_000 });
  return { ...reading, keys: records.map(({ key, identity }) => `${key}=${identity}`).sort() };
}

describe('NdjsonFile.read()', () => {
  test('takes everything to the end of the file, which must say that it is complete', async () => {
    writeFileSync(path, upsert('10.0.0.1', 5) + upsert('10.0.0.0/24', 6) + remove('10.0.0.1') + upsert('fd00::1', 7));
    await expect(readAll(newSource())).rejects.toThrow(
      expect.objectContaining({ exitCode: 8, code: 'SOURCE_NOT_SYNCED' }),
    );
    appendFileSync(path, SYNCED + upsert('10.0.0.2', 8));
    const { keys, records } = await readAll(newSource());
    expect(keys).toEqual(['10.0.0.0/24=6', '10.0.0.2=8', 'fd00::1=7']);
    expect(records).toBe(3);
  });

  test('metadata claims its prefix without a number, until its last kind is taken back', async () => {
    const base = { prefix: '192.0.2.0/24', resource: 'cnp/a/b' };
    writeFileSync(
      path,
      `${SYNCED}${JSON.stringify({ op: 'upsertMetadata', ...base, labels: ['cidr:192.0.2.0/24'] })}\n`,
    );
    const records: SourceRecord[] = [];
    await newSource().read((record) => records.push(record), { timeoutMs: 20_000 });
    expect(records).toEqual([
      expect.objectContaining({ key: '192.0.2.0/24', resource: 'cnp/a/b', labels: ['cidr:192.0.2.0/24'] }),
    ]);
    appendFileSync(path, `${JSON.stringify({ op: 'removeMetadata', ...base, what: ['labels'] })}\n`);
    expect((await readAll(newSource())).records).toBe(0);
  });

  test('has the same revision until the file changes', async () => {
    writeFileSync(path, upsert('10.0.0.1', 5) + SYNCED);
    const source = newSource();
    const before = await readAll(source);
    expect((await readAll(source)).revision).toBe(before.revision);
    appendFileSync(path, upsert('10.0.0.2', 5));
    expect((await readAll(source)).revision).not.toBe(before.revision);
  });

  test('speaks for the kinds of entry it has, and for no others', async () => {
    writeFileSync(path, upsert('10.0.0.1', 41234) + upsert('10.0.0.2@3', 196609) + SYNCED);
    const source = newSource();
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(false);
    await readAll(source);
    expect(source.speaksFor('global', 'ipv4', 0)).toBe(true);
    expect(source.speaksFor('global', 'ipv4', 3)).toBe(true);
    expect(source.speaksFor('global', 'ipv6', 0)).toBe(false);
    expect(source.speaksFor('local', 'ipv4', 0)).toBe(false);
  });

  test('tolerates no bad line: what it lost cannot be known', async () => {
    writeFileSync(path, `${upsert('10.0.0.1', 5)}{"op":"ups`);
    await expect(readAll(newSource())).rejects.toThrow(MalformedError);
    await expect(readAll(newSource())).rejects.toThrow(`Cannot use line 2 of ${path}: it is not JSON`);
  });

  test('a missing file is not found, a signal stops it', async () => {
    await expect(readAll(newSource())).rejects.toThrow(NotFoundError);
    writeFileSync(path, upsert('10.0.0.1', 5));
    const options = { timeoutMs: 20_000, signal: AbortSignal.abort(new Error('enough')) };
    await expect(newSource().read(() => {}, options)).rejects.toThrow('enough');
  });
});

describe('NdjsonFile.follow()', () => {
  class Log implements SourceSink {
    readonly said: string[] = [];
    event(event: Parameters<SourceSink['event']>[0]): void {
      this.said.push(
        event.op === 'upsert'
          ? `+${event.record.key}=${event.record.identity}`
          : `-${'key' in event ? event.key : event.op}`,
      );
    }
    synced(): void {
      this.said.push('synced');
    }
    lost(reason: string): void {
      this.said.push(`lost: ${reason.replace(directory, '')}`);
    }
  }

  async function following(source: NdjsonFile, run: (log: Log) => Promise<void>): Promise<string[]> {
    const stop = new AbortController();
    const log = new Log();
    const done = source.follow(log, { signal: stop.signal });
    try {
      await run(log);
    } finally {
      stop.abort();
      await done;
    }
    return log.said;
  }

  const until = (log: Log, said: string) => vi.waitFor(() => expect(log.said).toContain(said), { timeout: 10_000 });

  test('tells what is there, then what is appended', async () => {
    writeFileSync(path, upsert('10.0.0.1', 5));
    const said = await following(newSource(), async (log) => {
      await until(log, 'synced');
      appendFileSync(path, `${remove('10.0.0.1')}{"op":"upsert","prefix":"10.0.0.2",`);
      await until(log, '-10.0.0.1');
      appendFileSync(path, '"identity":6}\n');
      await until(log, '+10.0.0.2=6');
    });
    expect(said).toEqual(['+10.0.0.1=5', 'synced', '-10.0.0.1', '+10.0.0.2=6']);
  });

  test('takes back what a new file does not have, once that is complete', async () => {
    writeFileSync(path, upsert('10.0.0.1', 5) + upsert('10.0.0.2', 6) + SYNCED);
    const said = await following(newSource(), async (log) => {
      await until(log, 'synced');
      writeFileSync(`${path}.new`, upsert('10.0.0.2', 7) + SYNCED);
      renameSync(`${path}.new`, path);
      await until(log, '-10.0.0.1');
    });
    expect(said).toEqual([
      '+10.0.0.1=5',
      '+10.0.0.2=6',
      'synced',
      'lost: /feed.ndjson was replaced',
      '+10.0.0.2=7',
      '-10.0.0.1',
      'synced',
    ]);
  });

  test('says once that the file is missing and goes on when it comes; a shortened file is read anew', async () => {
    const said = await following(newSource(), async (log) => {
      await until(log, 'lost: Cannot read source /feed.ndjson: no such file or directory');
      writeFileSync(path, upsert('10.0.0.1', 5));
      await until(log, 'synced');
      truncateSync(path);
      await until(log, '-10.0.0.1');
    });
    expect(said.filter((line) => line.includes('no such file'))).toHaveLength(1);
  });

  test('counts bad lines and goes on; strict stops at the first', async () => {
    writeFileSync(path, `nonsense\n${upsert('10.0.0.1', 5)}`);
    const bad: MalformedError[] = [];
    const said = await following(newSource({ onBadLine: (error) => bad.push(error) }), (log) => until(log, 'synced'));
    expect(said).toEqual(['+10.0.0.1=5', 'synced']);
    expect(bad.map(({ operands }) => operands.line)).toEqual([1]);
    const { signal } = new AbortController();
    await expect(newSource({ strict: true }).follow(new Log(), { signal })).rejects.toThrow(MalformedError);
  });

  test('waits for a sink that has enough', async () => {
    writeFileSync(path, upsert('10.0.0.1', 5));
    let release: () => void = () => {};
    const said = await following(newSource(), async (log) => {
      Object.assign(log, { drained: () => new Promise<void>((resolve) => (release = resolve)) });
      await until(log, '+10.0.0.1=5');
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(log.said).not.toContain('synced');
      release();
      await until(log, 'synced');
    });
    expect(said).toEqual(['+10.0.0.1=5', 'synced']);
  });
});
