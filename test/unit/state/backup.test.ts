import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import schema from '../../../schemas/backup.json' with { type: 'json' };
import { type BackupEntry, listBackups, writeBackup } from '../../../src/lib/state/backup.ts';
import { lockState, type StateLock } from '../../../src/lib/state/lock.ts';
import { readBackup } from '../../../src/lib/state/read-backup.ts';

let directory: string;
let lock: StateLock;
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'ipc-backup-'));
  lock = lockState({ directory });
});
afterEach(() => {
  lock[Symbol.dispose]();
  fs.rmSync(directory, { recursive: true, force: true });
});

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const header = (time = '2026-01-02T03:04:05.006Z') => ({
  time,
  command: 'gc',
  bootId: 'b',
  map: { id: 7, pin: '/sys/fs/bpf/x', layout: 'v2' },
});
const entries: BackupEntry[] = [
  { prefix: '10.0.0.1/32', identity: 16777217, key: bytes(1, 0xff), before: bytes(0, 0xab) },
  { key: bytes(2, 0), after: bytes(9, 9) },
  { key: bytes(3, 0), before: bytes(1, 1), after: bytes(2, 2) },
];

describe('writeBackup()', () => {
  it('keeps key, value before and value after byte for byte, and is private', async () => {
    const backup = await writeBackup(lock, header(), entries);
    expect(backup).toEqual({ path: join(directory, 'backups/2026-01-02T03:04:05.006Z-gc.ndjson'), entries: 3 });
    expect(readBackup(backup?.path ?? '')).toEqual({
      header: { kind: 'ipc-backup', schemaVersion: 1, ...header() },
      entries,
    });
    expect(fs.statSync(backup?.path ?? '').mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(directory, 'backups')).mode & 0o777).toBe(0o700);
  });

  it('writes lines as the published schema describes them', async () => {
    const backup = await writeBackup(lock, header(), entries);
    const valid = new Ajv2020({ strict: false }).compile(schema);
    const lines = fs
      .readFileSync(backup?.path ?? '', 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => valid(JSON.parse(line)))).toEqual([true, true, true, true, true]);
  });

  it('copies what it pulls, so that one buffer may serve all entries', async () => {
    const key = bytes(0, 0);
    const pull = function* () {
      for (let i = 0; i < 5000; i++) {
        key.writeUInt16BE(i);
        yield { key, before: key };
      }
    };
    const backup = await writeBackup(lock, header(), pull());
    const read = readBackup(backup?.path ?? '').entries.map((entry) => Buffer.from(entry.key).readUInt16BE());
    expect(read).toEqual(Array.from({ length: 5000 }, (_, i) => i));
  });

  it('leaves no file when there is nothing to change', async () => {
    expect(await writeBackup(lock, header(), [])).toBeUndefined();
    expect(fs.readdirSync(join(directory, 'backups'))).toEqual([]);
  });

  it('gives two backups of one millisecond two names, in order', async () => {
    const first = await writeBackup(lock, header(), entries);
    const second = await writeBackup(lock, header(), entries);
    expect(listBackups(directory)).toEqual([second?.path, first?.path]);
    expect(second?.path).not.toBe(first?.path);
  });

  it('keeps the newest within both limits, always the last one, and no file of others', async () => {
    fs.mkdirSync(join(directory, 'backups'));
    fs.writeFileSync(join(directory, 'backups/notes.txt'), 'mine');
    const kept = async (minute: string, limits: { files: number; bytes: number }) => {
      for (const second of ['10', '11', '12', '13']) {
        await writeBackup(lock, header(`2026-01-02T03:${minute}:${second}.000Z`), entries, limits);
      }
      return listBackups(directory).map((path) => path.slice(-20, -15));
    };
    expect(await kept('04', { files: 3, bytes: 1e9 })).toEqual(['04:13', '04:12', '04:11']);
    const { size } = fs.statSync(listBackups(directory)[0] ?? '');
    expect(await kept('05', { files: 20, bytes: size * 2 })).toEqual(['05:13', '05:12']);
    expect(await kept('06', { files: 20, bytes: 1 })).toEqual(['06:13']);
    expect(fs.readFileSync(join(directory, 'backups/notes.txt'), 'utf8')).toBe('mine');
  });
});

describe('readBackup()', () => {
  it.each([
    ['without its end', (text: string) => text.slice(0, text.lastIndexOf('{"end"')), 'it is cut off after line 4'],
    ['cut in a line', (text: string) => text.slice(0, 300), /line \d is not JSON/],
    ['with a line missing', (text: string) => text.replace(/\n.*"0300".*\n/, '\n'), 'field entries in line 4 is not 2'],
    ['with half a byte', (text: string) => text.replace('"01ff"', '"01f"'), 'field key in line 2 does not match'],
  ])('refuses a backup %s', async (_, damage, message) => {
    const backup = await writeBackup(lock, header(), entries);
    const path = backup?.path ?? '';
    fs.writeFileSync(path, damage(fs.readFileSync(path, 'utf8')));
    expect(() => readBackup(path)).toThrow(expect.objectContaining({ exitCode: 9 }));
    expect(() => readBackup(path)).toThrow(message);
  });
});
