/** Which numbers stand in a map, and under the prefixes of placeholders. */
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { IncompleteError } from '../errors.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import { classifyEntry } from './entry-class.ts';
import type { MapNumbers } from './release-plan.ts';

/** A prefix that is there, but not as it was restored: somebody else writes it. */
const OF_SOMEBODY_ELSE = -1;

/** Reads the whole map. @throws {IncompleteError} when it could not be covered: what is missing may still be used */
export async function readMapNumbers(
  { map, layout }: IpcacheMap,
  wanted: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<MapNumbers> {
  const uses = new Map<number, number>();
  const identities = new Map<string, number>();
  const { complete, reason, entries } = await listEntries(walkMap(map, { signal }), {
    valueBytes: map.info.valueBytes,
    onEntry(keys, key, values, value) {
      const identity = identityOf(layout, values, value);
      if (hasLocalScope(identity) || hasRemoteNodeScope(identity)) uses.set(identity, (uses.get(identity) ?? 0) + 1);
      if (wanted.size === 0) return;
      const prefix = keyText(decodeKey(layout, keys, key), keys, key);
      if (!wanted.has(prefix)) return;
      const isRestored = classifyEntry(layout, { keys, key, values, value }, false) === 'local';
      identities.set(prefix, isRestored ? identity : OF_SOMEBODY_ELSE);
    },
  });
  if (complete) return { uses, identityOf: (prefix) => identities.get(prefix) };
  throw new IncompleteError(`Cannot tell which numbers ${map.label} has: ${reason ?? 'the walk was cut off'}`, {
    code: 'WALK_INCOMPLETE',
    hint: 'nothing was released; run it again when the map changes less',
    operands: { mapId: map.info.id, entries },
  });
}
