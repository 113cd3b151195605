import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Btf } from '../../src/lib/bpf/btf.ts';
import { MalformedError } from '../../src/lib/errors.ts';
import { ipcacheBtf } from '../support/btf-bytes.ts';

/** A struct, nothing, or a MalformedError that names an offset; never both, never anything else. */
function read(bytes: Uint8Array, id: number): void {
  try {
    const struct = new Btf(bytes).struct(id);
    for (const { bytes: size, bitOffset } of struct?.members ?? []) {
      expect(size).toBeGreaterThanOrEqual(0);
      expect(bitOffset).toBeGreaterThanOrEqual(0);
    }
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedError);
    expect(error).toMatchObject({ code: 'BTF', operands: { offset: expect.any(Number) } });
  }
}

describe('Btf', () => {
  const { bytes, keyType } = ipcacheBtf();

  it('any bytes give a value or a typed error', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(), (some, id) => read(some, id)));
  });

  it('any bytes behind a sound header give a value or a typed error', () => {
    const body = fc.uint8Array({ minLength: 1, maxLength: 600 });
    fc.assert(
      fc.property(body, fc.nat(600), fc.integer({ min: 1, max: 12 }), (some, split, id) => {
        const types = Math.min(split, some.length);
        const blob = new Uint8Array(24 + some.length);
        blob.set(bytes.subarray(0, 8));
        new Uint32Array(blob.buffer, 8, 4).set([0, types, types, some.length - types]);
        blob.set(some, 24);
        read(blob, id);
      }),
    );
  });

  it('a sound blob with a few bytes changed gives a value or a typed error', () => {
    const changes = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(changes, fc.integer({ min: 0, max: keyType + 5 }), (list, id) => {
        const changed = Uint8Array.from(bytes);
        for (const [index, byte] of list) changed[index] = byte;
        read(changed, id);
      }),
      { numRuns: 2000 },
    );
  });
});
