import { describe, expect, it } from 'vitest';
import { formatMapRef, type MapRef, parseMapRef } from '../../../src/lib/bpf/map-ref.ts';
import { EXIT } from '../../../src/lib/errors.ts';

const onBpffs = (path: string) => path.startsWith('/sys/fs/bpf/');

describe('parseMapRef()', () => {
  it.each<[string, MapRef]>([
    ['/sys/fs/bpf/tc/globals/cilium_ipcache', { kind: 'pin', path: '/sys/fs/bpf/tc/globals/cilium_ipcache' }],
    ['/var/lib/snap.ndjson', { kind: 'file', path: '/var/lib/snap.ndjson' }],
    ['-', { kind: 'file', path: '-' }],
    ['id:189', { kind: 'id', id: 189 }],
    ['id:4294967295', { kind: 'id', id: 4294967295 }],
    ['name:cilium_ipcache_', { kind: 'name', name: 'cilium_ipcache_' }],
    ['datapath', { kind: 'datapath' }],
    ['./datapath', { kind: 'file', path: './datapath' }],
    ['./id:7', { kind: 'file', path: './id:7' }],
  ])('%s', (text, wanted) => {
    expect(parseMapRef(text, onBpffs)).toEqual(wanted);
    expect(formatMapRef(wanted)).toBe(text);
  });

  it.each(['', 'id:', 'id:0', 'id:-1', 'id:1x', 'id:4294967296', 'id:0x10', 'id: 7', 'name:', 'a\0b'])(
    'refuses %j as usage',
    (text) => {
      expect(() => parseMapRef(text, onBpffs)).toThrow(
        expect.objectContaining({ exitCode: EXIT.usage, code: 'BAD_MAP_REF' }),
      );
    },
  );
});
