import { describe, expect, test } from 'vitest';
import { LayoutError } from '../../../src/lib/errors.ts';
import { chooseLayout, type MapShape } from '../../../src/lib/ipcache/choose-layout.ts';

const choose = (shape: Partial<MapShape>) => chooseLayout({ map: 'map id 7', keyBytes: 24, valueBytes: 24, ...shape });

const member = (name: string, offset: number, bytes: number, bit = 0) => ({ name, bitOffset: offset * 8 + bit, bytes });
const KEY = [member('lpm_key', 0, 4), member('cluster_id', 4, 2), member('pad1', 6, 1), member('family', 7, 1)];
const VALUE_12 = [member('sec_identity', 0, 4), member('tunnel_endpoint', 4, 4)];

describe('chooseLayout()', () => {
  test.each([
    [24, 'v2'],
    [8, '1.2'],
  ])('takes %i bytes as they are', (valueBytes, name) => {
    expect(choose({ valueBytes })).toMatchObject({ by: 'size', layout: { name }, candidates: [{ name }] });
  });

  test('wants to see the entries of a map with 12 bytes', () => expect(choose({ valueBytes: 12 })).toBeUndefined());

  test.each([
    [12, '1.14'],
    [8, '1.0'],
    [24, 'v2'],
  ] as const)('takes %i bytes as asked for: %s', (valueBytes, layout) => {
    expect(choose({ valueBytes, layout })).toMatchObject({ by: 'request', layout: { name: layout } });
  });

  test('refuses a layout of another size and says which ones fit', () => {
    expect(() => choose({ valueBytes: 8, layout: 'v2' })).toThrow(LayoutError);
    expect(() => choose({ valueBytes: 8, layout: 'v2' })).toThrow(
      expect.objectContaining({ hint: 'use --layout 1.2 or 1.0', exitCode: 4 }),
    );
  });

  test.each([
    [24, 16],
    [20, 24],
    [24, 0],
  ])('refuses a map with keys of %i and values of %i bytes', (keyBytes, valueBytes) => {
    const message = `Cannot read map id 7 as an ipcache: keys have ${keyBytes} and values ${valueBytes} bytes`;
    expect(() => choose({ keyBytes, valueBytes, layout: 'v2' })).toThrow(message);
  });
});

describe('chooseLayout() with type information', () => {
  test.each([
    ['1.5', [...VALUE_12, member('key', 8, 1)], KEY.filter(({ name }) => name !== 'cluster_id')],
    [
      '1.14',
      [...VALUE_12, member('node_id', 8, 2), member('key', 10, 1)],
      [member('cluster_id', 6, 1), member('family', 7, 1)],
    ],
    ['1.15', [...VALUE_12, member('pad', 8, 2), member('key', 10, 1)], KEY],
    ['1.16', [...VALUE_12, member('key', 10, 1), member('flag_skip_tunnel', 11, 1)], KEY],
    [
      '1.16',
      [member('sec_label', 0, 4), ...VALUE_12.slice(1), member('key', 10, 1), member('flag_skip_tunnel', 11, 1)],
      undefined,
    ],
  ] as const)('finds layout %s', (name, value, key) => {
    const choice = choose({ valueBytes: 12, btf: { value, ...(key && { key }) } });
    expect(choice).toMatchObject({ by: 'btf', layout: { name } });
  });

  test('finds v2 whether or not the newest flag is among the members', () => {
    const flags = ['flag_skip_tunnel', 'flag_has_tunnel_ep', 'flag_ipv6_tunnel_ep'].map((name, bit) =>
      member(name, 23, 1, bit),
    );
    const value = [member('sec_identity', 0, 4), member('tunnel_endpoint', 4, 16), member('key', 22, 1), ...flags];
    expect(choose({ btf: { key: KEY, value } })).toMatchObject({ by: 'btf', layout: { name: 'v2' } });
  });

  test('finds the 16-bit layout by its member', () => {
    const choice = choose({ valueBytes: 8, btf: { value: [member('sec_label', 0, 2), member('pad', 2, 6)] } });
    expect(choice).toMatchObject({ by: 'btf', layout: { name: '1.0' } });
  });

  test('follows offsets that no known version has', () => {
    const value = [member('tunnel_endpoint', 0, 4), member('sec_identity', 4, 4), member('key', 11, 1)];
    const choice = choose({ valueBytes: 12, btf: { key: KEY, value } });
    expect(choice).toMatchObject({
      by: 'btf',
      layout: {
        name: 'btf',
        key: { clusterId: { offset: 4, bytes: 2 }, pad: [6] },
        value: { identity: { offset: 4, bytes: 4 }, tunnel: { offset: 0, bytes: 4 }, encryptKey: 11, knownFlags: 0 },
      },
    });
  });

  test('ignores a struct that is not one of the ipcache', () => {
    expect(choose({ valueBytes: 24, btf: { value: [member('packets', 0, 8)] } })).toMatchObject({ by: 'size' });
    expect(choose({ valueBytes: 12, btf: { value: [] } })).toBeUndefined();
  });

  test.each([
    ['an identity of 8 bytes', [member('sec_identity', 0, 8)]],
    ['a member behind the end', [member('sec_identity', 0, 4), member('key', 12, 1)]],
    ['flags in another order', [member('sec_identity', 0, 4), member('flag_has_tunnel_ep', 11, 1, 0)]],
    ['an identity inside a byte', [member('sec_identity', 0, 4, 3)]],
  ])('refuses %s', (_what, value) => {
    expect(() => choose({ valueBytes: 12, btf: { value } })).toThrow(
      expect.objectContaining({ code: 'BTF', exitCode: 4 }),
    );
  });

  test('refuses a key whose family lies elsewhere', () => {
    const btf = { key: [member('family', 6, 1)], value: VALUE_12 };
    expect(() => choose({ valueBytes: 12, btf })).toThrow(LayoutError);
  });
});
