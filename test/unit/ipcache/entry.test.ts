import { describe, expect, test } from 'vitest';
import { decodeEntry, type IpcacheEntry } from '../../../src/lib/ipcache/entry.ts';
import { type LayoutName, layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { formatPrefix } from '../../../src/lib/net/prefix.ts';
import { hexTo } from '../../support/hex.ts';

function read(key: string, value: string, name: LayoutName = 'v2'): IpcacheEntry {
  const layout = layoutNamed(name);
  return decodeEntry(layout, {
    keys: hexTo(48, `${'ee'.repeat(24)} ${key}`),
    keyOffset: 24,
    values: hexTo(layout.value.bytes + 3, `eeeeee ${value}`),
    valueOffset: 3,
  });
}

describe('decodeEntry()', () => {
  test('leaves out what is not there', () => {
    expect(read('40000000 0000 00 01 0a000001', 'e8030000')).toEqual({
      prefix: '10.0.0.1/32',
      canonical: expect.anything(),
      family: 'ipv4',
      clusterId: 0,
      identity: 1000,
      encryptKey: 0,
      flags: 0,
      flagNames: [],
      warnings: [],
    });
  });

  test('shows everything that is there', () => {
    const value = `01000001 20010db8 00000000 00000000 00000001 0000 05 e7`;
    const entry = read('38000000 0100 00 01 0a000005', value);
    expect(entry).toMatchObject({
      prefix: '10.0.0.0/24@1',
      clusterId: 1,
      identity: 16777217,
      tunnelEndpoint: '2001:db8::1',
      encryptKey: 5,
      flags: 0xe7,
      flagNames: ['skiptunnel', 'hastunnel', 'ipv6tunnel', '0xe0'],
      warnings: ['noncanonical'],
    });
    expect(entry.canonical && formatPrefix(entry.canonical)).toBe('10.0.0.0/24@1');
  });

  test('shows a tunnel only where the datapath sees one', () => {
    expect(read('40000000 0000 00 01 0a000001', 'e8030000 0a000009').tunnelEndpoint).toBeUndefined();
    const flagged = read('40000000 0000 00 01 0a000001', `e8030000 ${'00'.repeat(19)} 02`);
    expect(flagged.tunnelEndpoint).toBe('0.0.0.0');
    expect(read('40000000 0000 00 01 0a000001', 'e8030000 0a000009', '1.16').tunnelEndpoint).toBe('10.0.0.9');
  });

  test('shows the node ID of the one layout that has it', () => {
    expect(read('40000000 0000 00 01 0a000001', 'e8030000 0a000009 3412', '1.14').nodeId).toBe(0x1234);
  });

  test('knows a dead entry by its bytes and still shows its value', () => {
    const entry = read('46000000 0000 00 01 0a000001', 'e8030000');
    expect(entry).toMatchObject({ prefix: '0x46000000000000010a000001000000000000000000000000', identity: 1000 });
    expect(entry.canonical).toBeUndefined();
  });
});
