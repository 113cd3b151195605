import { describe, expect, it } from 'vitest';
import { BpfAttr } from '../../../src/lib/native/attr.ts';

/** Gives every buffer a number of its own instead of an address. */
function addresses() {
  const seen: Uint8Array[] = [];
  return { seen, addressOf: (buffer: Uint8Array) => BigInt(seen.push(buffer)) };
}

describe('BpfAttr', () => {
  it('u32() and u64() write little endian and leave every other byte zero', () => {
    const attr = new BpfAttr().u32(4, 0x01020304).u64(8, 0x0102030405060708n);
    expect([...attr.bytes.subarray(0, 16)]).toEqual([0, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(attr.bytes.subarray(16).every((byte) => byte === 0)).toBe(true);
    expect(attr.bytes.length).toBe(128);
  });

  it('size is the end of the last field, whatever the order', () => {
    expect(new BpfAttr().u64(8, 0).u32(0, 1).size).toBe(16);
    expect(new BpfAttr().ptr(16, undefined).size).toBe(24);
    expect(new BpfAttr().inlineName(28, 'x', 16).size).toBe(44);
  });

  it('resolve() writes each address once and the same buffer again costs none', () => {
    const { seen, addressOf } = addresses();
    const key = new Uint8Array(4);
    const attr = new BpfAttr().ptr(8, key);
    expect(attr.resolve(addressOf)).toBe(2n);
    expect(attr.getU64(8)).toBe(1n);
    attr.ptr(8, key).resolve(addressOf);
    expect(seen).toEqual([key, attr.bytes]);
    const other = new Uint8Array(4);
    attr.ptr(8, other).resolve(addressOf);
    expect(seen.at(-1)).toBe(other);
    expect(attr.getU64(8)).toBe(3n);
  });

  it('ptr() of nothing clears the field and forgets the buffer', () => {
    const { seen, addressOf } = addresses();
    const attr = new BpfAttr().ptr(8, new Uint8Array(1));
    attr.resolve(addressOf);
    attr.ptr(8, undefined).resolve(addressOf);
    expect(attr.getU64(8)).toBe(0n);
    expect(attr.pointers.size).toBe(0);
    const changedBeforeUse = new BpfAttr().ptr(0, new Uint8Array(1)).ptr(0, undefined);
    seen.length = 0;
    changedBeforeUse.resolve(addressOf);
    expect(seen).toEqual([changedBeforeUse.bytes]);
  });

  it('struct() resolves the pointers of the inner struct too', () => {
    const { addressOf } = addresses();
    const inner = new BpfAttr(80).ptr(56, new Uint8Array(8));
    new BpfAttr().struct(8, inner).resolve(addressOf);
    expect(inner.getU64(56)).not.toBe(0n);
  });

  it('cstring() ends in a NUL and inlineName() keeps room for one', () => {
    const attr = new BpfAttr().cstring(0, '/é').inlineName(28, 'cilium_ipcache_v2', 16);
    expect([...(attr.pointers.get(0) ?? [])]).toEqual([0x2f, 0xc3, 0xa9, 0]);
    expect(Buffer.from(attr.bytes.subarray(28, 44)).toString()).toBe('cilium_ipcache_\0');
    attr.inlineName(28, 'x', 16);
    expect(Buffer.from(attr.bytes.subarray(28, 44)).toString()).toBe(`x${'\0'.repeat(15)}`);
  });

  it('reset() leaves an attribute as new', () => {
    const attr = new BpfAttr().u64(40, 7).ptr(8, new Uint8Array(1)).reset();
    expect(attr.size).toBe(0);
    expect(attr.pointers.size).toBe(0);
    expect(attr.bytes.every((byte) => byte === 0)).toBe(true);
  });
});
