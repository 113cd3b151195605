/** Topics 10 and 13 against pinned maps of this kernel: the outgoing map is walked, the new one pinned in its place. */
import { afterAll, describe, expect } from 'vitest';
import type { BpfMap } from '../../../src/lib/bpf/map.ts';
import { openPin } from '../../../src/lib/bpf/open-pin.ts';
import { pinMap, unpin } from '../../../src/lib/bpf/pin.ts';
import { BPF_MAP_TYPE_HASH } from '../../../src/lib/bpf/uapi.ts';
import { walkMap } from '../../../src/lib/bpf/walk.ts';
import { LayoutError } from '../../../src/lib/errors.ts';
import { EntryTable } from '../../../src/lib/ipcache/entry-table.ts';
import { KEY_BYTES } from '../../../src/lib/ipcache/layout.ts';
import { listEntries } from '../../../src/lib/ipcache/list-entries.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { RESTORE_TOPICS, testRestoreTopic } from '../../golden/restore-cases.ts';
import type { CaseMaps, OutgoingEntries, RestoreInput } from '../../golden/restore-harness.ts';
import { bpfDescriptors, pinDirectory, realTrie } from '../../support/real-kernel.ts';

const kernel = new LinuxKernel();
const before = bpfDescriptors();
afterAll(() => expect(bpfDescriptors()).toBe(before));

async function entriesOf(map: BpfMap): Promise<OutgoingEntries> {
  const { valueBytes } = map.info;
  const table = new EntryTable(valueBytes);
  const onEntry = (keys: Uint8Array, key: number, values: Uint8Array, value: number): void =>
    table.add(keys, key, values, value);
  const { complete } = await listEntries(walkMap(map), { valueBytes, onEntry });
  expect(complete).toBe(true);
  return Array.from({ length: table.count }, (_, i) => ({
    key: table.keys.slice(i * KEY_BYTES, (i + 1) * KEY_BYTES),
    value: table.values.slice(i * valueBytes, (i + 1) * valueBytes),
  }));
}

function makeOutgoing({ mapKind, map = [] }: RestoreInput, pin: string): void {
  const valueBytes = mapKind === 'v2' || mapKind === 'hash' ? 24 : 12;
  using outgoing = realTrie(kernel, { valueBytes, ...(mapKind === 'hash' && { type: BPF_MAP_TYPE_HASH, flags: 0 }) });
  for (const { keyHex, valueHex } of map ?? [])
    outgoing.update(Buffer.from(keyHex, 'hex'), Buffer.from(valueHex, 'hex'));
  pinMap(outgoing, pin);
}

/** The agent of topic 10 reads the second layout only; the one of topic 13 falls back to the first. */
function pinnedMaps(input: RestoreInput, readsV1: boolean): CaseMaps & Disposable {
  const directory = pinDirectory('golden10');
  const pin = `${directory.path}/${input.mapName}`;
  if (input.mapKind !== 'missing') makeOutgoing(input, pin);
  let made: BpfMap | undefined;
  const current = (): BpfMap => {
    if (made === undefined) throw new Error('the map has not been made yet');
    return made;
  };
  return {
    async outgoing() {
      if (input.mapKind === 'missing' || (input.mapKind === 'v1' && !readsV1)) return [];
      using map = openPin(pin, { kernel });
      if (map.info.type === BPF_MAP_TYPE_HASH || (map.info.valueBytes !== 24 && input.mapKind !== 'v1')) {
        throw new LayoutError(`Cannot read ${map.label}: it is not of the layout of its name`);
      }
      return await entriesOf(map);
    },
    recreate() {
      if (input.mapKind !== 'missing') unpin(pin);
      made = realTrie(kernel);
      pinMap(made, pin);
    },
    update: (key, value) => current().update(key, value),
    remove: (key) => expect(current().delete(key)).toBe(true),
    async entries() {
      current();
      using map = openPin(pin, { kernel });
      return await entriesOf(map);
    },
    [Symbol.dispose]() {
      made?.[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

describe.each(RESTORE_TOPICS)('golden %s on pinned maps', (topic) => {
  testRestoreTopic(topic, (input) => pinnedMaps(input, topic === '13-restore-v1'));
});
