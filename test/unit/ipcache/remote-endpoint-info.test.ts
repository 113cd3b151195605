import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LayoutError } from '../../../src/lib/errors.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { LAYOUTS, type Layout, layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import {
  decodeValue,
  encodeValue,
  hasTunnel,
  newRemoteEndpointInfo,
  tunnelText,
} from '../../../src/lib/ipcache/remote-endpoint-info.ts';
import { parseAddress } from '../../../src/lib/net/address.ts';
import { anyValue } from '../../support/arbitrary-entry.ts';
import { hex, hexTo } from '../../support/hex.ts';

const v2 = layoutNamed('v2');
const identity = numericIdentity(1000);
const address = (text: string) => parseAddress(text) ?? new Uint8Array();

/** The value with its padding cleared: what must survive being read and written again. */
function withoutPadding({ value }: Layout, bytes: Uint8Array): Uint8Array {
  const kept = new Uint8Array(bytes.length);
  const keep = (offset: number | undefined, length: number) => {
    if (offset !== undefined) kept.set(bytes.subarray(offset, offset + length), offset);
  };
  keep(value.identity.offset, value.identity.bytes);
  keep(value.tunnel?.offset, value.tunnel?.bytes ?? 0);
  keep(value.nodeId, 2);
  keep(value.encryptKey, 1);
  keep(value.flags, 1);
  return kept;
}

describe('decodeValue()', () => {
  const bytes = '01020304 0a000001 11 22 33 44';
  test.each([
    ['1.16', { encryptKey: 0x33, flags: 0x44 }],
    ['1.15', { encryptKey: 0x33, flags: 0 }],
    ['1.14', { encryptKey: 0x33, flags: 0, nodeId: 0x2211 }],
    ['1.5', { encryptKey: 0x11, flags: 0 }],
  ] as const)('finds the parts of 12 bytes where layout %s has them', (name, parts) => {
    const info = decodeValue(layoutNamed(name), hex(bytes));
    expect(info).toEqual({ identity: 0x04030201, tunnelBytes: hex('0a000001'), ...parts });
  });

  test('finds the parts of 24 bytes', () => {
    const value = hex('010203ff 20010db8 00000000 00000000 00000001 beef 03 f6');
    expect(decodeValue(v2, value)).toEqual({
      identity: 0xff030201,
      tunnelBytes: address('2001:db8::1'),
      encryptKey: 3,
      flags: 0xf6,
    });
  });

  test('reads the oldest layout only as 16 bits without a tunnel', () => {
    expect(decodeValue(layoutNamed('1.0'), hex('01020304 0a000001'))).toEqual({
      identity: 0x0201,
      encryptKey: 0,
      flags: 0,
    });
    expect(decodeValue(layoutNamed('1.2'), hex('01020304 0a000001'))).toMatchObject({ identity: 0x04030201 });
  });

  test('copies the tunnel out of a buffer that will be reused', () => {
    const buffer = hexTo(24, '00000000 0a000001');
    const info = decodeValue(v2, buffer);
    buffer.fill(0xee);
    expect(info.tunnelBytes).toEqual(hexTo(16, '0a000001'));
  });

  test('op 10 twelve bytes give identity and tunnel in every layout of that size', () => {
    for (const layout of LAYOUTS.filter((row) => row.value.bytes === 12)) {
      const info = decodeValue(layout, hex('987f0000 0a651033 0000 00 00'));
      expect([info.identity, tunnelText(info), hasTunnel(layout.value, info)]).toEqual([32664, '10.101.16.51', true]);
    }
  });

  test('op 11 the ipv6tunnel flag alone decides how 16 tunnel bytes read', () => {
    const value = (flags: string) => decodeValue(v2, hex(`1ff20100 ac120002 ${'00'.repeat(12)} 0000 03 ${flags}`));
    expect(value('02')).toMatchObject({ identity: 127519, encryptKey: 3, flags: 2 });
    expect(tunnelText(value('02'))).toBe('172.18.0.2');
    expect(tunnelText(value('06'))).toBe('ac12:2::');
  });
});

describe('hasTunnel()', () => {
  test.each([
    ['v2', '00000000 0a000001', '00', false],
    ['v2', '00000000 0a000001', '02', true],
    ['v2', '00000000 00000000', '02', true],
    ['v2', '00000000 00000000', '05', false],
  ] as const)('asks in layout %s the flag: %s %s', (name, head, flags, present) => {
    const value = hexTo(24, head);
    value[23] = Number.parseInt(flags, 16);
    expect(hasTunnel(layoutNamed(name).value, decodeValue(layoutNamed(name), value))).toBe(present);
  });

  test.each(['1.16', '1.15', '1.14', '1.5', '1.2'] as const)('asks in layout %s the bytes', (name) => {
    const layout = layoutNamed(name);
    const read = (text: string) => hasTunnel(layout.value, decodeValue(layout, hexTo(layout.value.bytes, text)));
    expect([read('01000000 00000000'), read('01000000 00000001')]).toEqual([false, true]);
  });
});

describe('newRemoteEndpointInfo()', () => {
  test('sets the tunnel flags that the layout knows', () => {
    const make = (layout: Layout, tunnel: string) =>
      newRemoteEndpointInfo(layout, { identity, tunnel: address(tunnel) });
    expect(make(v2, '10.0.0.1')).toMatchObject({ flags: 2, tunnelBytes: hexTo(16, '0a000001') });
    expect(make(v2, 'fd00::1').flags).toBe(6);
    expect(make(layoutNamed('1.16'), '10.0.0.1')).toMatchObject({ flags: 0, tunnelBytes: hex('0a000001') });
    expect(make(layoutNamed('1.16'), '::ffff:10.0.0.1').tunnelBytes).toEqual(hex('0a000001'));
  });

  test.each([
    ['1.16', { tunnel: address('fd00::1') }, 'room for IPv4 only'],
    ['1.15', { flags: 1 }, 'flags into layout 1.15'],
    ['1.2', { encryptKey: 1 }, 'encrypt key into layout 1.2'],
    ['1.5', { nodeId: 1 }, 'node ID into layout 1.5'],
    ['1.0', { tunnel: address('10.0.0.1') }, 'tunnel endpoint into layout 1.0'],
    ['1.0', { identity: numericIdentity(65536) }, 'identity 65536 into layout 1.0'],
  ] as const)('refuses what layout %s cannot hold: %j', (name, parts, message) => {
    const make = () => newRemoteEndpointInfo(layoutNamed(name), { identity, ...parts });
    expect(make).toThrow(LayoutError);
    expect(make).toThrow(message);
  });

  test('op 13 unknown flag bits come through a rewrite unchanged', () => {
    const old = decodeValue(v2, hexTo(24, `e8030000 ${'00'.repeat(19)} f0`));
    const rewritten = newRemoteEndpointInfo(v2, { identity: numericIdentity(5), flags: old.flags });
    expect(encodeValue(v2, rewritten)).toEqual(hexTo(24, `05000000 ${'00'.repeat(19)} f0`));
  });
});

describe.each(LAYOUTS.map((layout) => layout.name))('any bytes in layout %s', (name) => {
  const layout = layoutNamed(name);
  test('encodeValue() writes what decodeValue() read, padding apart', () => {
    fc.assert(
      fc.property(anyValue(layout), fc.nat({ max: 9 }), (bytes, offset) => {
        const buffer = new Uint8Array(bytes.length + 20).fill(0xee);
        buffer.set(bytes, offset);
        expect(encodeValue(layout, decodeValue(layout, buffer, offset))).toEqual(withoutPadding(layout, bytes));
      }),
      { numRuns: 500 },
    );
  });
});
