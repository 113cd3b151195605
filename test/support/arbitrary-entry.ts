/** Random key and value bytes of every kind: mostly sound entries, some dead, catch-all or noncanonical ones. */
import fc from 'fast-check';
import { encodeKey } from '../../src/lib/ipcache/key.ts';
import { KEY_BYTES, type Layout } from '../../src/lib/ipcache/layout.ts';
import { makePrefix } from '../../src/lib/net/prefix.ts';

export interface EntrySample {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

/** Addresses with runs of zeros, so that `::` is exercised, and v4-mapped ones. */
const ipv6 = fc.oneof(
  bytes(16),
  fc
    .array(fc.constantFrom(0, 0, 0, 1, 0xff, 0xab), { minLength: 16, maxLength: 16 })
    .map((array) => Uint8Array.from(array)),
  bytes(4).map((tail) => Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...tail])),
);

export function soundKey(layout: Layout): fc.Arbitrary<Uint8Array> {
  const clusters = layout.key.clusterId === undefined ? 0 : 256 ** layout.key.clusterId.bytes - 1;
  const cluster = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: clusters }));
  const prefix = fc.oneof(
    fc.tuple(bytes(4), fc.integer({ min: 0, max: 32 }), cluster),
    fc.tuple(ipv6, fc.integer({ min: 0, max: 128 }), cluster),
  );
  return prefix.map(([address, length, clusterId]) => encodeKey(layout, makePrefix(address, length, clusterId)));
}

export function anyKey(layout: Layout): fc.Arbitrary<Uint8Array> {
  const oneByteOff = fc
    .tuple(soundKey(layout), fc.nat({ max: KEY_BYTES - 1 }), fc.nat({ max: 255 }))
    .map(([key, at, byte]) => Uint8Array.from(key, (old, i) => (i === at ? byte : old)));
  return fc.oneof(soundKey(layout), soundKey(layout), oneByteOff, bytes(KEY_BYTES));
}

export function anyValue(layout: Layout): fc.Arbitrary<Uint8Array> {
  const identity = fc.oneof(
    fc.constantFrom(0, 1, 2, 8, 127, 128, 255, 256, 16777217, 33554433, 0x7fffffff, 0x80000000, 0xffffffff),
    fc.nat({ max: 0xffffffff }),
  );
  return fc.tuple(bytes(layout.value.bytes), identity, fc.boolean()).map(([random, number, blank]) => {
    const value = Uint8Array.from(random);
    if (blank) value.fill(0, 4, Math.max(4, layout.value.bytes - 2));
    new DataView(value.buffer).setUint32(0, number, true);
    return value;
  });
}

export function entrySamples(layout: Layout): fc.Arbitrary<EntrySample[]> {
  return fc.array(fc.record({ key: anyKey(layout), value: anyValue(layout) }), { maxLength: 40 });
}
