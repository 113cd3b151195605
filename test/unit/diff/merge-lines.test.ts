import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableLine } from '../../../src/lib/diff/line-cursor.ts';
import { mergeLines } from '../../../src/lib/diff/merge-lines.ts';
import { type EntryValue, entryLine, entryValues, sortEntries } from '../../support/snapshot-lines.ts';

/** The lines in blocks of the given sizes, every block overwritten once the next is asked for. */
async function* blocks(lines: readonly string[], sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(1 << 20);
  for (let at = 0, turn = 0; at < lines.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const length = buffer.write(`${lines.slice(at, at + size).join('\n')}\n`);
    yield buffer.subarray(0, length);
    buffer.fill(0);
    at += size;
  }
}

interface Seen {
  readonly removed: string[];
  readonly added: string[];
  readonly changed: string[];
  readonly same: string[];
}

async function merge(a: readonly string[], b: readonly string[], sizes: number[], withSame: boolean): Promise<Seen> {
  const seen: Seen = { removed: [], added: [], changed: [], same: [] };
  await mergeLines(blocks(a, sizes), blocks(b, [...sizes].reverse()), {
    removed: (row) => seen.removed.push(row.prefixText()),
    added: (row) => seen.added.push(row.prefixText()),
    changed: (before, after) => {
      expect(before.prefixText()).toBe(after.prefixText());
      seen.changed.push(`${before.prefixText()} ${before.identity} ${after.identity}`);
    },
    ...(withSame && { same: (row) => seen.same.push(row.prefixText()) }),
  });
  return seen;
}

/** What the lists say, found without any order. */
function naive(a: readonly EntryValue[], b: readonly EntryValue[]): Seen {
  const other = new Map(b.map((value) => [value.prefix, value]));
  const own = new Map(a.map((value) => [value.prefix, value]));
  const pairs = a.flatMap((value) => {
    const after = other.get(value.prefix);
    return after === undefined ? [] : [[value, after] as const];
  });
  return {
    removed: a.filter((value) => !other.has(value.prefix)).map((value) => value.prefix),
    added: b.filter((value) => !own.has(value.prefix)).map((value) => value.prefix),
    changed: pairs
      .filter(([x, y]) => entryLine(x) !== entryLine(y))
      .map(([x, y]) => `${x.prefix} ${x.identity} ${y.identity}`),
    same: pairs.filter(([x, y]) => entryLine(x) === entryLine(y)).map(([x]) => x.prefix),
  };
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
/** Two lists with much in common. */
const pair = fc
  .tuple(entryValues, entryValues, fc.array(fc.nat(2), { minLength: 40, maxLength: 40 }))
  .map(([common, others, fates]) => {
    const taken = new Set(common.map((value) => value.prefix));
    const extra = others.filter((value) => !taken.has(value.prefix));
    const a = [...common, ...extra.filter((_, i) => fates[i] === 0)];
    const changed = common.map((value, i) => (fates[i] === 2 ? { ...value, identity: value.identity + 1 } : value));
    const b = [...changed, ...extra.filter((_, i) => fates[i] === 1)];
    return [sortEntries(a), sortEntries(b)] as const;
  });

describe('mergeLines()', () => {
  it('finds what a comparison without order finds, in whatever blocks the lines come', async () => {
    await fc.assert(
      fc.asyncProperty(pair, sizes, fc.boolean(), async ([a, b], blockSizes, withSame) => {
        const expected = naive(a, b);
        const seen = await merge(a.map(entryLine), b.map(entryLine), blockSizes, withSame);
        expect(seen).toEqual(withSame ? expected : { ...expected, same: [] });
      }),
      { numRuns: 300 },
    );
  });

  it('reports damage and disorder on the side that has it', async () => {
    const line = (address: string) =>
      entryLine({ prefix: address, family: 'ipv4', identity: 300, encryptKey: 0, flags: 0 });
    const sound = ['10.0.0.1/32', '10.0.0.2/32', '10.0.0.3/32', '10.0.0.4/32'].map(line);
    const [one, two, three, four] = sound as [string, string, string, string];
    const damaged = [one, two, '{"prefix":', four];
    await expect(merge(sound, damaged, [2], false)).rejects.toMatchObject({ side: 'b' });
    await expect(merge(damaged, sound, [9], false)).rejects.toMatchObject({ side: 'a' });
    for (const wrong of [
      [two, one, three, four],
      [one, three, four, two],
      [one, two, four, three],
    ]) {
      for (const size of [1, 2, 9]) {
        await expect(merge(sound, wrong, [size], false), wrong.join()).rejects.toBeInstanceOf(UnreadableLine);
        await expect(merge(wrong, sound, [size], false), wrong.join()).rejects.toBeInstanceOf(UnreadableLine);
      }
    }
  });
});
