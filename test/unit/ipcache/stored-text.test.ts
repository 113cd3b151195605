import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeKey, encodeKey, keyText } from '../../../src/lib/ipcache/key.ts';
import { KEY_BYTES, layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { storedText } from '../../../src/lib/ipcache/stored-text.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';

const v2 = layoutNamed('v2');

describe('storedText()', () => {
  it.each([
    '0.0.0.0/0',
    '10.20.30.40/32',
    '100.200.9.0/24',
    '255.255.255.255/32',
    '10.0.0.0/8@7',
    '::/0',
    'fd00::1/128',
    '2001:db8::/32@3',
  ])('gives %s', (text) => {
    const key = encodeKey(v2, parsePrefix(text));
    expect(storedText(v2, key, 0)).toBe(text);
  });

  it('is what keyText() gives for any bytes, wherever they begin', () => {
    const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const byte = fc.constantFrom(0, 0, 0, 1, 255);
    fc.assert(
      fc.property(
        fc.nat(160),
        byte,
        byte,
        fc.constantFrom(1, 1, 1, 2, 3),
        fc.nat(4),
        address,
        (length, a, b, family, zeros, bytes) => {
          const keys = new Uint8Array(2 * KEY_BYTES);
          keys.set([length, 0, 0, 0, a, b, 0, family], KEY_BYTES);
          keys.set(bytes.fill(0, zeros), KEY_BYTES + 8);
          for (const layout of [v2, layoutNamed('1.16')]) {
            expect(storedText(layout, keys, KEY_BYTES)).toBe(
              keyText(decodeKey(layout, keys, KEY_BYTES), keys, KEY_BYTES),
            );
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
