import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RENAME_EXCHANGE, RENAME_NOREPLACE, renameat2 } from '../../../src/lib/native/renameat2.ts';

describe('renameat2()', () => {
  let directory: string;
  let a: string;
  let b: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ipc-rename-'));
    a = join(directory, 'a');
    b = join(directory, 'b');
    writeFileSync(a, 'was a');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  it('swaps two names with RENAME_EXCHANGE', () => {
    writeFileSync(b, 'was b');
    expect(renameat2(a, b, RENAME_EXCHANGE)).toBe(0);
    expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual(['was b', 'was a']);
  });

  it('answers the errno, negated: EEXIST with RENAME_NOREPLACE, ENOENT for a missing name', () => {
    writeFileSync(b, 'was b');
    expect(renameat2(a, b, RENAME_NOREPLACE)).toBe(-17);
    expect(readFileSync(b, 'utf8')).toBe('was b');
    rmSync(b);
    expect(renameat2(a, b, RENAME_EXCHANGE)).toBe(-2);
    expect(renameat2(a, b, RENAME_NOREPLACE)).toBe(0);
    expect(existsSync(a)).toBe(false);
  });
});
