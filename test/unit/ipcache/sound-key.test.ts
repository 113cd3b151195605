import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeKey } from '../../../src/lib/ipcache/key.ts';
import { LAYOUTS } from '../../../src/lib/ipcache/layout.ts';
import { soundPrefixLength } from '../../../src/lib/ipcache/sound-key.ts';
import { anyKey, soundKey } from '../../support/arbitrary-entry.ts';

describe.each(LAYOUTS)('soundPrefixLength(), layout $name', (layout) => {
  it('is the length of every key that decodes without warnings, and only of those', () => {
    fc.assert(
      fc.property(fc.oneof(anyKey(layout), soundKey(layout)), (key) => {
        const decoded = decodeKey(layout, key);
        const length = soundPrefixLength(layout.key, key, 0);
        if (length >= 0) expect([decoded.warnings, decoded.prefix?.length]).toEqual([[], length]);
        else expect(decoded.warnings.length > 0 || decoded.prefix?.address[10] === 0xff).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
