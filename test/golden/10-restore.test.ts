/** Topics 10 and 13 without a kernel; on real pinned maps they run in test/privileged/restore. */
import { describe } from 'vitest';
import { FailedError } from '../../src/lib/errors.ts';
import { hexOf } from '../../src/lib/ipcache/key.ts';
import { RESTORE_TOPICS, testRestoreTopic } from './restore-cases.ts';
import type { CaseMaps, RestoreInput } from './restore-harness.ts';

/** The agent of topic 10 reads the second layout only; the one of topic 13 falls back to the first. */
function memoryMaps(input: RestoreInput, readsV1: boolean): CaseMaps & Disposable {
  const made = new Map<string, { key: Uint8Array; value: Uint8Array }>();
  return {
    outgoing() {
      if (input.mapKind === 'missing' || (input.mapKind === 'v1' && !readsV1)) return [];
      if (input.mapKind === 'wrong-value-size' || input.mapKind === 'hash')
        throw new FailedError('Cannot read the map');
      return (input.map ?? []).map(({ keyHex, valueHex }) => ({
        key: Buffer.from(keyHex, 'hex'),
        value: Buffer.from(valueHex, 'hex'),
      }));
    },
    recreate: () => made.clear(),
    update: (key, value) => made.set(hexOf(key), { key: key.slice(), value: value.slice() }),
    remove: (key) => made.delete(hexOf(key)),
    entries: () => [...made.values()],
    [Symbol.dispose]: () => {},
  };
}

describe.each(RESTORE_TOPICS)('golden %s in memory', (topic) => {
  testRestoreTopic(topic, (input) => memoryMaps(input, topic === '13-restore-v1'));
});
