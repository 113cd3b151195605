import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRedactKey, readRedactKey } from '../../../src/lib/state/redact-key.ts';

let directory: string;
beforeEach(() => {
  directory = join(fs.mkdtempSync(join(tmpdir(), 'ipc-key-')), 'state');
});
afterEach(() => fs.rmSync(join(directory, '..'), { recursive: true, force: true }));

describe('openRedactKey()', () => {
  it('makes a key once, for its owner only, and gives the same one ever after', async () => {
    const key = await openRedactKey(directory);
    expect(key).toHaveLength(32);
    expect(await openRedactKey(directory)).toEqual(key);
    expect(fs.readdirSync(directory)).toEqual(['redact.key']);
    expect(fs.statSync(join(directory, 'redact.key')).mode & 0o777).toBe(0o600);
  });

  it('gives every one of several first users the same key, and other directories others', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => openRedactKey(directory)));
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    expect(await openRedactKey(join(directory, 'other'))).not.toEqual(keys[0]);
  });
});

describe('readRedactKey()', () => {
  it('refuses a key that others may read, and one that is damaged, without touching it', async () => {
    await openRedactKey(directory);
    const path = join(directory, 'redact.key');
    fs.chmodSync(path, 0o640);
    expect(() => readRedactKey(path)).toThrow(`Cannot use key ${path}: others may read it, its mode is 0640`);
    fs.chmodSync(path, 0o600);
    fs.writeFileSync(path, 'abc');
    await expect(openRedactKey(directory)).rejects.toThrow(expect.objectContaining({ exitCode: 9 }));
    expect(fs.readFileSync(path, 'utf8')).toBe('abc');
    expect(() => readRedactKey(join(directory, 'none'))).toThrow(expect.objectContaining({ exitCode: 3 }));
  });
});
