import { describe, expect, it } from 'vitest';
import { Btf } from '../../../src/lib/bpf/btf.ts';
import { MalformedError } from '../../../src/lib/errors.ts';
import { BtfBytes, ipcacheBtf } from '../../support/btf-bytes.ts';

describe('Btf', () => {
  const { bytes, keyType, valueType } = ipcacheBtf();

  it('struct() lists members with offsets and sizes, those of anonymous unions in their place', () => {
    expect(new Btf(bytes).struct(keyType)).toEqual({
      name: 'ipcache_key',
      bytes: 24,
      members: [
        { name: 'lpm_key', bitOffset: 0, bytes: 4 },
        { name: 'cluster_id', bitOffset: 32, bytes: 2 },
        { name: 'pad1', bitOffset: 48, bytes: 1 },
        { name: 'family', bitOffset: 56, bytes: 1 },
        { name: 'ip4', bitOffset: 64, bytes: 4 },
        { name: 'pad4', bitOffset: 96, bytes: 4 },
        { name: 'ip6', bitOffset: 64, bytes: 16 },
      ],
    });
  });

  it('struct() sees through typedefs and tells bit fields', () => {
    const struct = new Btf(bytes).struct(valueType);
    expect(struct?.name).toBe('remote_endpoint_info');
    expect(struct?.members.slice(0, 2)).toEqual([
      { name: 'sec_identity', bitOffset: 0, bytes: 4 },
      { name: 'tunnel_endpoint', bitOffset: 32, bytes: 16 },
    ]);
    expect(struct?.members.slice(-2)).toEqual([
      { name: 'flag_skip_tunnel', bitOffset: 184, bytes: 1, bitSize: 1 },
      { name: 'flag_has_tunnel_ep', bitOffset: 185, bytes: 1, bitSize: 1 },
    ]);
  });

  it('struct() is undefined for what is no struct', () => {
    expect(new Btf(bytes).struct(1)).toBeUndefined();
    expect(new Btf(bytes).struct(0)).toBeUndefined();
  });

  it('reads a blob that is a part of a larger buffer', () => {
    const larger = new Uint8Array(bytes.length + 10).fill(0xff);
    larger.set(bytes, 5);
    expect(new Btf(larger.subarray(5, 5 + bytes.length)).struct(keyType)?.members.length).toBe(7);
  });

  it.each<[string, (broken: Uint8Array) => Uint8Array]>([
    ['shorter than its header', (broken) => broken.subarray(0, 23)],
    ['no BTF magic', (broken) => broken.fill(0, 0, 2)],
    ['version 2 is not known', (broken) => broken.fill(2, 2, 3)],
    ['the header is too short', (broken) => broken.fill(4, 4, 5)],
    ['a section goes beyond the end', (broken) => broken.subarray(0, -1)],
    ['type kind 0 is not known', (broken) => broken.fill(0, 28, 32)],
  ])('refuses a blob: %s', (state, breakIt) => {
    const call = () => new Btf(breakIt(Uint8Array.from(bytes)));
    expect(call).toThrow(MalformedError);
    expect(call).toThrow(state);
  });

  it('refuses ids and strings that are not there', () => {
    expect(() => new Btf(bytes).struct(999)).toThrow('there is no type 999');
    const broken = new BtfBytes();
    broken.struct('x', 4, [{ name: 'y', type: 77, bitOffset: 0 }]);
    expect(() => new Btf(broken.build()).struct(1)).toThrow('there is no type 77');
  });

  it('ends on types that contain or stand for themselves', () => {
    const btf = new BtfBytes();
    const self = Array.from({ length: 40 }, () => ({ name: '', type: 1, bitOffset: 0 }));
    btf.struct('self', 4, self);
    btf.typedef('loop', 2);
    btf.struct('array', 4, [{ name: 'a', type: 4, bitOffset: 0 }]);
    btf.array(4, 1, 2);
    const parsed = new Btf(btf.build());
    expect(() => parsed.struct(1)).toThrow('too many members');
    expect(() => parsed.struct(2)).toThrow('stands for itself');
    expect(() => parsed.struct(3)).toThrow('nested too deeply');
  });
});
