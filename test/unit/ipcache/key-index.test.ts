import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyIndex } from '../../../src/lib/ipcache/key-index.ts';

const KEY_BYTES = 24;
/** Few different bytes, so that keys meet again. */
const key = fc.uint8Array({ minLength: KEY_BYTES, maxLength: KEY_BYTES, max: 1 });

describe('KeyIndex', () => {
  it('finds what a Map of hexadecimal words finds', () => {
    const property = fc.property(fc.array(key), fc.array(key), (added, asked) => {
      const index = new KeyIndex(2);
      const model = new Map<string, number>();
      const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
      for (const bytes of added) {
        const wanted = model.get(hex(bytes)) ?? model.size;
        model.set(hex(bytes), wanted);
        expect(index.add(bytes)).toBe(wanted);
      }
      expect(index.count).toBe(model.size);
      for (const bytes of [...asked, ...added]) expect(index.find(bytes)).toBe(model.get(hex(bytes)) ?? -1);
      // Wherever it is expected.
      for (const [i, bytes] of [...asked, ...added].entries()) {
        expect(index.find(bytes, 0, i % (model.size + 2))).toBe(model.get(hex(bytes)) ?? -1);
      }
      index.clear();
      for (const bytes of added) expect(index.find(bytes)).toBe(-1);
    });
    fc.assert(property);
  });

  it('reads keys at an offset, and holds many', () => {
    const index = new KeyIndex();
    const keys = new Uint8Array(100_000 * KEY_BYTES);
    const view = new DataView(keys.buffer);
    for (let i = 0; i < 100_000; i++) view.setUint32(i * KEY_BYTES + 8, i * 2654435761);
    for (let i = 0; i < 100_000; i++) expect(index.add(keys, i * KEY_BYTES)).toBe(i);
    for (let i = 0; i < 100_000; i += 997) expect(index.find(keys, i * KEY_BYTES)).toBe(i);
    index.clear();
    expect(index.add(keys, 5 * KEY_BYTES)).toBe(0);
  });
});
