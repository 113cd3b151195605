import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FailedError } from '../../../src/lib/errors.ts';
import { tryFlock, unlockFlock } from '../../../src/lib/native/flock.ts';

describe('tryFlock()', () => {
  let directory: string;
  let one: number;
  let two: number;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ipc-flock-'));
    // Directories: a pin cannot be opened, so its directory is what gets locked.
    one = openSync(directory, 'r');
    two = openSync(directory, 'r');
  });

  afterEach(() => {
    closeSync(two);
    rmSync(directory, { recursive: true });
  });

  it('lets one descriptor hold an exclusive lock until it is closed', () => {
    expect(tryFlock(one, 'exclusive')).toBe(true);
    expect(tryFlock(two, 'exclusive')).toBe(false);
    expect(tryFlock(two, 'shared')).toBe(false);
    closeSync(one);
    expect(tryFlock(two, 'exclusive')).toBe(true);
  });

  it('lets several hold a shared lock, and unlockFlock() gives one back', () => {
    expect(tryFlock(one, 'shared')).toBe(true);
    expect(tryFlock(two, 'shared')).toBe(true);
    expect(tryFlock(two, 'exclusive')).toBe(false);
    unlockFlock(one);
    expect(tryFlock(two, 'exclusive')).toBe(true);
    closeSync(one);
  });

  it('throws for a descriptor that is not open', () => {
    closeSync(one);
    expect(() => tryFlock(one, 'shared')).toThrow(FailedError);
  });
});
