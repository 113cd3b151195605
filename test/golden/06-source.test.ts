import { describe, expect, test } from 'vitest';
import { allowOverwrite, SOURCES } from '../../src/lib/cache/source-rank.ts';
import { loadTopic } from './load.ts';

type Input =
  | { readonly op: 'sources' }
  | { readonly op: 'allowOverwrite'; readonly existing: string; readonly next: readonly string[] };

interface Expect {
  readonly sources?: readonly string[];
  readonly allowed?: Readonly<Record<string, boolean>>;
}

describe('06-source', () => {
  for (const { name, input, expect: expected } of loadTopic<Input, Expect>('06-source').cases) {
    test(name, () => {
      if (input.op === 'sources') {
        expect([...SOURCES]).toEqual(expected.sources);
        return;
      }
      const allowed = Object.fromEntries(input.next.map((next) => [next, allowOverwrite(input.existing, next)]));
      expect(allowed).toEqual(expected.allowed);
    });
  }
});
