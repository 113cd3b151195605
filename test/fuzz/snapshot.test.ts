/** Any bytes are a snapshot or an error that says where; never anything else. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runDiff } from '../../src/lib/diff/run-diff.ts';
import { MalformedError } from '../../src/lib/errors.ts';
import { findDamage } from '../../src/lib/snapshot/read-rows.ts';
import { openSnapshot } from '../../src/lib/snapshot/snapshot-reader.ts';
import { entryValues, snapshotText } from '../support/snapshot-lines.ts';

const IDENTITIES = [{ identity: 16777217, labels: ['cidr:10.0.0.0/24', 'reserved:world-ipv4'] }];

function opener(bytes: Uint8Array) {
  return () =>
    openSnapshot('bytes', async function* () {
      yield bytes;
    });
}

/** @returns undefined when the bytes are a sound snapshot */
async function damageOf(bytes: Uint8Array): Promise<MalformedError | undefined> {
  try {
    await findDamage(await opener(bytes)());
    return undefined;
  } catch (error) {
    if (error instanceof MalformedError) return error;
    throw error;
  }
}

const mutation = fc.record({
  at: fc.nat(10_000),
  drop: fc.nat(20),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    fc.constantFrom('\n', '"', '{"end":true}\n', ',').map((text) => Buffer.from(text)),
  ),
});

function mutate(bytes: Uint8Array, { at, drop, put }: { at: number; drop: number; put: Uint8Array }): Buffer {
  const cut = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(Math.min(bytes.length, cut + drop))]);
}

describe('reading a snapshot', () => {
  it('accepts a changed file only where the end line, which no sum covers, says the same', async () => {
    await fc.assert(
      fc.asyncProperty(entryValues, mutation, async (entries, change) => {
        const text = Buffer.from(snapshotText({ identities: IDENTITIES, entries }));
        const changed = mutate(text, change);
        const damage = await damageOf(changed);
        const body = text.lastIndexOf('\n', text.length - 2) + 1;
        if (damage === undefined) expect(changed.subarray(0, body).equals(text.subarray(0, body))).toBe(true);
        else expect(damage.exitCode).toBe(9);
      }),
      { numRuns: 500 },
    );
  });

  it('takes any bytes, plain or gzip, for a snapshot or for damage', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), mutation, async (bytes, packed, change) => {
        const file = packed ? mutate(gzipSync(bytes), change) : bytes;
        expect(await damageOf(file)).toBeInstanceOf(MalformedError);
      }),
      { numRuns: 500 },
    );
  });

  it('of two files, of which one is damaged, gives a difference or an error, and the same error every time', async () => {
    await fc.assert(
      fc.asyncProperty(entryValues, entryValues, mutation, async (a, b, change) => {
        const sound = opener(Buffer.from(snapshotText({ identities: IDENTITIES, entries: a })));
        const bytes = mutate(Buffer.from(snapshotText({ entries: b })), change);
        const input = (open: ReturnType<typeof opener>) => ({ label: 'bytes', live: false, open });
        const result = await runDiff(input(sound), input(opener(bytes)), { settle: async () => {} }).catch(
          (error) => error,
        );
        const damage = await damageOf(bytes);
        if (damage === undefined) expect(result).not.toBeInstanceOf(Error);
        else expect(result).toMatchObject({ message: damage.message });
      }),
      { numRuns: 300 },
    );
  });
});
