import { describe, expect, test } from 'vitest';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { decodeValue } from '../../../src/lib/ipcache/remote-endpoint-info.ts';
import { valueWarnings } from '../../../src/lib/ipcache/value-warnings.ts';
import { hex } from '../../support/hex.ts';

const v2 = (tunnel: string, flags: string) => {
  const layout = layoutNamed('v2');
  return valueWarnings(layout.value, decodeValue(layout, hex(`01000000 ${tunnel} ${'00'.repeat(14)} 00 ${flags}`)));
};

describe('valueWarnings()', () => {
  test.each([
    ['0a000001', '02', []],
    ['00000000', '00', []],
    ['0a000001', '00', ['tunnel-without-flag']],
    ['00000000', '02', ['flag-without-tunnel']],
    ['00000000', '04', []],
  ])('tunnel bytes %s with flags %s: %j', (tunnel, flags, warnings) => expect(v2(tunnel, flags)).toEqual(warnings));

  test('has nothing to say about layouts without hastunnel', () => {
    const layout = layoutNamed('1.16');
    expect(valueWarnings(layout.value, decodeValue(layout, hex('01000000 0a000001 00000000')))).toEqual([]);
  });
});
