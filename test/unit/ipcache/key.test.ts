import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LayoutError } from '../../../src/lib/errors.ts';
import { decodeKey, encodeKey, keyText } from '../../../src/lib/ipcache/key.ts';
import { LAYOUTS, type LayoutName, layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { comparePrefixes, formatPrefix, makePrefix, parsePrefix } from '../../../src/lib/net/prefix.ts';
import { anyKey } from '../../support/arbitrary-entry.ts';
import { hex, hexTo } from '../../support/hex.ts';

/** Text, family and warnings of a key that is filled up with zeros. */
function read(text: string, layout: LayoutName = 'v2') {
  const keys = hexTo(48, `${'ee'.repeat(24)} ${text}`);
  const key = decodeKey(layoutNamed(layout), keys, 24);
  return { text: keyText(key, keys, 24), family: key.family, clusterId: key.clusterId, warnings: key.warnings };
}

describe('sound keys', () => {
  test.each([
    ['40000000 0000 00 01 0a000004', 'v2', '10.0.0.4/32', 'ipv4', 0],
    ['20000000 0000 00 01', 'v2', '0.0.0.0/0', 'ipv4', 0],
    ['20000000 0000 00 02', 'v2', '::/0', 'ipv6', 0],
    ['38000000 0100 00 01 0a000000', 'v2', '10.0.0.0/24@1', 'ipv4', 1],
    ['38000000 0001 00 01 0a000000', '1.16', '10.0.0.0/24@256', 'ipv4', 256],
    ['38000000 0000 01 01 0a000000', '1.14', '10.0.0.0/24@1', 'ipv4', 1],
    ['2a000000 0000 00 02 fe80', 'v2', 'fe80::/10', 'ipv6', 0],
    ['a0000000 ffff 00 02 20010db8 00000000 00000000 00000001', '1.15', '2001:db8::1/128@65535', 'ipv6', 65535],
    ['40000000 0000 00 01 ffffffff', '1.5', '255.255.255.255/32', 'ipv4', 0],
    ['40000000 0000 00 01 01020304', '1.0', '1.2.3.4/32', 'ipv4', 0],
  ] as const)('decodeKey() reads %s in layout %s as %s', (bytes, layout, text, family, clusterId) => {
    expect(read(bytes, layout)).toEqual({ text, family, clusterId, warnings: [] });
    expect(encodeKey(layoutNamed(layout), parsePrefix(text))).toEqual(hexTo(24, bytes));
  });

  test('op 01 a host key is its address with /32', () => {
    expect(read('40000000 0000 00 01 0a000004').text).toBe('10.0.0.4/32');
  });

  test('op 02 prefixlen 32 is the default route of its family', () => {
    expect(read('20000000 0000 00 01').text).toBe('0.0.0.0/0');
    expect(read('20000000 0000 00 02').text).toBe('::/0');
  });

  test('op 03 the cluster ID stands in two places and means the same', () => {
    expect(read('38000000 0100 00 01 0a000000', 'v2').text).toBe('10.0.0.0/24@1');
    expect(read('38000000 0000 01 01 0a000000', '1.14').text).toBe('10.0.0.0/24@1');
  });

  test('op 04 an IPv6 network keeps its length', () => {
    expect(read('2a000000 0000 00 02 fe80').text).toBe('fe80::/10');
  });
});

describe('keys with something to say', () => {
  test('op 05 host bits are masked and reported', () => {
    expect(read('38000000 0000 00 01 0a000005')).toMatchObject({ text: '10.0.0.0/24', warnings: ['noncanonical'] });
  });

  test('decodeKey() reports bytes behind an IPv4 address, which the kernel ignores', () => {
    const key = read('40000000 0000 00 01 0a000001 deadbeef');
    expect(key).toMatchObject({ text: '10.0.0.1/32', warnings: ['noncanonical'] });
  });

  test('decodeKey() shows a v4-mapped key as the IPv6 prefix it is', () => {
    const bytes = 'a0000000 0000 00 02 00000000 00000000 0000ffff 0a000001';
    expect(read(bytes)).toMatchObject({ text: '::ffff:10.0.0.1/128', family: 'ipv6', warnings: ['v4-mapped'] });
    const mapped = decodeKey(layoutNamed('v2'), hex(bytes)).prefix;
    const plain = decodeKey(layoutNamed('v2'), hexTo(24, '40000000 0000 00 01 0a000001')).prefix;
    expect(mapped && plain && comparePrefixes(mapped, plain)).not.toBe(0);
    expect(mapped && encodeKey(layoutNamed('v2'), mapped)).toEqual(hex(bytes));
  });

  test('decodeKey() reports both when a v4-mapped network has host bits', () => {
    const key = read('98000000 0000 00 02 00000000 00000000 0000ffff 0a000001');
    expect(key).toMatchObject({ text: '::ffff:10.0.0.0/120', warnings: ['noncanonical', 'v4-mapped'] });
  });

  test('decodeKey() does not call a network that only contains the v4-mapped range v4-mapped', () => {
    expect(read('70000000 0000 00 02')).toMatchObject({ text: '::/80', warnings: [] });
  });
});

describe('dead and catch-all keys', () => {
  test.each([
    ['46000000 0000 00 01 0a000001', 'v2', 'ipv4', ['dead-entry']],
    ['41000000 0000 00 01 0a000001', 'v2', 'ipv4', ['dead-entry']],
    ['a1000000 0000 00 02 20010db8', 'v2', 'ipv6', ['dead-entry']],
    ['ffffffff 0000 00 01 0a000001', 'v2', 'ipv4', ['dead-entry']],
    ['40000000 0000 77 01 0a000001', 'v2', 'ipv4', ['dead-entry']],
    ['40000000 0100 00 01 0a000001', '1.14', 'ipv4', ['dead-entry']],
    ['40000000 0000 01 01 0a000001', '1.5', 'ipv4', ['dead-entry']],
    ['40000000 0000 00 03 0a000001', 'v2', 'unknown', ['unknown-family']],
    ['40000000 0000 00 00', 'v2', 'unknown', ['unknown-family']],
    ['40000000 0000 01 07', 'v2', 'unknown', ['dead-entry', 'unknown-family']],
    ['10000000 0000 00 00', 'v2', 'any', ['catch-all']],
    ['00000000 1234 56 78', 'v2', 'any', ['catch-all']],
    ['1e000000 0000 00 01', 'v2', 'any', ['catch-all']],
    ['1f000000 0000 00 01', 'v2', 'ipv4', ['catch-all']],
    ['1f000000 0000 00 02', 'v2', 'ipv6', ['catch-all']],
    ['1f000000 0000 00 04', 'v2', 'unknown', ['dead-entry']],
    ['18000000 0000 01 01', 'v2', 'unknown', ['dead-entry']],
    ['10000000 0000 01 01', 'v2', 'any', ['catch-all']],
  ] as const)('decodeKey() knows %s in layout %s by its bytes', (bytes, layout, family, warnings) => {
    const raw = Buffer.from(hexTo(24, bytes)).toString('hex');
    expect(read(bytes, layout)).toMatchObject({ text: `0x${raw}`, family, warnings });
  });

  test('op 06 an impossible length and an unknown family are raw hex, a short length is a catch-all', () => {
    expect(read('46000000 0000 00 01 0a000001')).toMatchObject({
      text: '0x46000000000000010a000001000000000000000000000000',
      warnings: ['dead-entry'],
    });
    expect(read('40000000 0000 00 03 0a000001').warnings).toEqual(['unknown-family']);
    expect(read('10000000 0000 00 01 0a000001')).toMatchObject({ family: 'any', warnings: ['catch-all'] });
  });

  test('decodeKey() says catch-all exactly where the longest match of some lookup would be this key', () => {
    const layout = layoutNamed('v2');
    const lookups = [1, 2].flatMap((family) =>
      [0, 1, 0x1234].map((cluster) => [cluster & 255, cluster >> 8, 0, family]),
    );
    const short = fc.tuple(
      fc.nat({ max: 31 }),
      fc.array(fc.constantFrom(0, 1, 2, 3, 0x12, 0x34), { minLength: 4, maxLength: 4 }),
    );
    fc.assert(
      fc.property(short, ([bits, fixed]) => {
        const matches = lookups.some((lookup) => {
          const differs = (bit: number) => (((fixed[bit >> 3] ?? 0) ^ (lookup[bit >> 3] ?? 0)) >> (7 - (bit & 7))) & 1;
          for (let bit = 0; bit < bits; bit++) if (differs(bit)) return false;
          return true;
        });
        const { warnings } = decodeKey(layout, Uint8Array.from([bits, 0, 0, 0, ...fixed, ...new Uint8Array(16)]));
        // Other clusters than those three may match as well, so only one direction holds for every key.
        if (matches) expect(warnings).toEqual(['catch-all']);
        else expect(warnings).toHaveLength(1);
      }),
    );
  });
});

describe('encodeKey()', () => {
  test.each([
    ['1.14', '10.0.0.0/24@256', 'layout 1.14 holds cluster IDs up to 255'],
    ['1.5', '10.0.0.0/24@1', 'layout 1.5 has no cluster ID'],
  ] as const)('refuses in layout %s the prefix %s', (layout, prefix, message) => {
    expect(() => encodeKey(layoutNamed(layout), parsePrefix(prefix))).toThrow(LayoutError);
    expect(() => encodeKey(layoutNamed(layout), parsePrefix(prefix))).toThrow(message);
  });

  test('clears what a reused buffer held', () => {
    const buffer = new Uint8Array(24).fill(0xee);
    expect(encodeKey(layoutNamed('v2'), parsePrefix('10.0.0.1'), buffer)).toBe(buffer);
    expect(buffer).toEqual(hexTo(24, '40000000 0000 00 01 0a000001'));
  });
});

describe.each(LAYOUTS.map((layout) => layout.name))('any 24 bytes in layout %s', (name) => {
  const layout = layoutNamed(name);

  test('decodeKey() gives a prefix that encodes to a key that decodes to it, or a warning', () => {
    fc.assert(
      fc.property(anyKey(layout), (bytes) => {
        const key = decodeKey(layout, bytes);
        if (key.prefix === undefined) {
          expect(key.warnings.length).toBeGreaterThan(0);
          expect(keyText(key, bytes)).toBe(`0x${Buffer.from(bytes).toString('hex')}`);
          return;
        }
        const again = encodeKey(layout, key.prefix);
        expect(formatPrefix(decodeKey(layout, again).prefix ?? makePrefix(new Uint8Array(4), 0))).toBe(
          keyText(key, bytes),
        );
        expect(Buffer.compare(again, bytes) === 0).toBe(!key.warnings.includes('noncanonical'));
      }),
      { numRuns: 500 },
    );
  });
});
