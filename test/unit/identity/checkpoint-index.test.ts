import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCheckpoint } from '../../../src/lib/identity/checkpoint.ts';
import { findInCheckpoint } from '../../../src/lib/identity/checkpoint-find.ts';
import { CheckpointIndex } from '../../../src/lib/identity/checkpoint-index.ts';
import { checkpointChunks } from '../../../src/lib/identity/checkpoint-write.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { CHECKPOINT_IDS, checkpointTexts } from '../../support/arbitrary-checkpoint.ts';

/** What the full reader says: of two records with one number the first. */
function inFull(text: string): Map<number, Labels> {
  const all = new Map<number, Labels>();
  for (const { id, labels } of parseCheckpoint(Buffer.from(text), 'x')) if (!all.has(id)) all.set(id, labels);
  return all;
}

const asText = (labels: Labels | undefined): string | undefined => labels?.sortedList;

describe('CheckpointIndex', () => {
  test('knows what the full reader knows', () => {
    fc.assert(
      fc.property(checkpointTexts, (text) => {
        const all = inFull(text);
        const index = CheckpointIndex.of(Buffer.from(text), 'x');
        expect(index.size).toBe(all.size);
        for (const id of CHECKPOINT_IDS) expect(asText(index.lookup(id))).toBe(asText(all.get(id)));
      }),
      { numRuns: 1000 },
    );
  });

  test('finds each of very many', () => {
    const records = Array.from({ length: 5000 }, (_, i) => ({
      id: numericIdentity(16777217 + i * 3),
      labels: Labels.parse([`fqdn:host-${i}.example.com`]),
    }));
    const index = CheckpointIndex.of(Buffer.concat([...checkpointChunks(records)]), 'x');
    expect(index.size).toBe(5000);
    for (const { id, labels } of records) expect(asText(index.lookup(id))).toBe(labels.sortedList);
    expect(index.lookup(16777218)).toBeUndefined();
  });

  test('is as strict about damage as the full reader', () => {
    expect(() => CheckpointIndex.of(Buffer.from('[{"id":1,"labels":{"a":{}}}]'), 'f')).toThrow('[0].labels["a"]');
  });
});

describe('findInCheckpoint()', () => {
  test('answers as the full reader, for one number and for several', () => {
    fc.assert(
      fc.property(checkpointTexts, fc.subarray([...CHECKPOINT_IDS]), (text, ids) => {
        const all = inFull(text);
        const found = findInCheckpoint(Buffer.from(text), 'x', ids);
        for (const id of ids) expect(asText(found.get(id))).toBe(asText(all.get(id)));
      }),
      { numRuns: 3000 },
    );
  });

  test('does not read what it need not: damage elsewhere goes unnoticed', () => {
    const text = '[{"id":16777217,"labels":{"a":{"key":"a","source":"k8s"}}},{"broken"x{}}}}]';
    expect(asText(findInCheckpoint(Buffer.from(text), 'x', [16777217]).get(16777217))).toBe('k8s:a=;');
    expect(() => findInCheckpoint(Buffer.from(text), 'x', [1, 2, 3, 4, 5])).toThrow('(at byte');
  });

  test('a file cut off is never searched but read, and so refused', () => {
    const text = '[{"id":16777217,"labels":{"a":{"key":"a","source":"k8s"}}},{"id":167';
    expect(() => findInCheckpoint(Buffer.from(text), 'state.json', [16777217])).toThrow('at byte 68');
  });
});
