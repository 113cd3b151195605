/** Deletes entries that the user names, and tells what answers for their addresses afterwards. */
import type { BpfMap } from '../bpf/map.ts';
import { Deleter } from '../datapath/compare-before-delete.ts';
import { NoEntryError } from '../errors.ts';
import type { IpcacheEntry } from '../ipcache/entry.ts';
import { explainPrefix } from '../ipcache/explain-prefix.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';
import { requireIdentity } from './set-entry.ts';

export interface DeleteRequest {
  readonly prefixes: readonly Prefix[];
  readonly ignoreNotFound: boolean;
  /** Every entry must have this identity. */
  readonly expectIdentity?: number | undefined;
}

export interface DeletePlan {
  readonly prefix: string;
  /** Absent: there is no such entry. */
  readonly stored?: { readonly entry: IpcacheEntry; readonly key: Uint8Array; readonly value: Uint8Array } | undefined;
  /** What answers for the prefix when all of this is deleted. */
  readonly fallsTo?: IpcacheEntry | undefined;
}

/**
 * Looks at every entry before the first of them is deleted.
 * @throws {NoEntryError} one of them is missing @throws {RefusedError} one of them has another identity
 */
export async function planDelete(
  { map, layoutChoice }: IpcacheMap,
  { prefixes, ignoreNotFound, expectIdentity }: DeleteRequest,
  signal?: AbortSignal,
): Promise<DeletePlan[]> {
  const going = new Set(prefixes.map(formatPrefix));
  const plans: DeletePlan[] = [];
  const byText = new Map(prefixes.map((prefix) => [formatPrefix(prefix), prefix]));
  for (const [text, prefix] of byText) {
    const { chain, exact } = await explainPrefix(map, layoutChoice, prefix, signal);
    const [stored] = chain;
    if (!exact || stored === undefined) {
      if (!ignoreNotFound) throw notFound(map, text, stored?.entry);
      plans.push({ prefix: text });
      continue;
    }
    if (expectIdentity !== undefined) requireIdentity(map, text, stored.entry.identity, expectIdentity);
    const fallsTo = chain.find(({ entry }) => !going.has(entry.prefix))?.entry;
    plans.push({ prefix: text, stored, fallsTo });
  }
  return plans;
}

/** @returns whether the entry is gone; false where it changed since it was looked at, and stays */
export async function applyDelete(map: BpfMap, { stored }: DeletePlan): Promise<boolean> {
  if (stored === undefined) return true;
  return (await new Deleter(map).delete(stored.key, stored.value)) !== 'changed';
}

function notFound(map: BpfMap, prefix: string, wider: IpcacheEntry | undefined): NoEntryError {
  const answer = wider === undefined ? 'nothing answers for it' : `what answers for it is ${wider.prefix}`;
  return new NoEntryError(`Cannot delete ${prefix} from ${map.label}: there is no such entry`, {
    hint: `${answer}; nothing was deleted (--ignore-not-found passes over what is missing)`,
    operands: { prefix },
  });
}
