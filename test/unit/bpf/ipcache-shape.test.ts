import { describe, expect, it } from 'vitest';
import { hasIpcacheShape, ipcacheShapeError } from '../../../src/lib/bpf/ipcache-shape.ts';
import { EXIT } from '../../../src/lib/errors.ts';

const info = { id: 9, type: 11, keyBytes: 24, valueBytes: 24, maxEntries: 1, flags: 1, name: 'x' };

describe('hasIpcacheShape()', () => {
  it.each([8, 12, 24])('accepts an LPM trie with values of %i bytes', (valueBytes) => {
    expect(hasIpcacheShape({ ...info, valueBytes })).toBe(true);
  });

  it.each([{ type: 1 }, { keyBytes: 20 }, { valueBytes: 16 }, { valueBytes: 1 }])('refuses %j', (other) => {
    expect(hasIpcacheShape({ ...info, ...other })).toBe(false);
  });
});

describe('ipcacheShapeError()', () => {
  it('op 28 exits 4 and names type and sizes', () => {
    const hash = { ...info, type: 1, keyBytes: 16, valueBytes: 4 };
    expect(ipcacheShapeError({ label: 'map /b/x', path: '/b/x', info: hash })).toMatchObject({
      exitCode: EXIT.ambiguous,
      code: 'NOT_AN_IPCACHE',
      message: 'Cannot use map /b/x as an ipcache: it is of type hash with 16-byte keys and 4-byte values',
      operands: { path: '/b/x', mapId: 9, mapType: 'hash', keyBytes: 16, valueBytes: 4 },
    });
    expect(ipcacheShapeError({ label: 'map /b/x', info })).toBeUndefined();
  });
});
