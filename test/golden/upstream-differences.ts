/**
 * Which cases show something that ours does otherwise on purpose, found from the case itself: what upstream did breaks a
 * rule that ours keeps. Such a case is compared with strictUpstream only.
 */
import type { GoldenStep } from './cache-steps.ts';

export interface ExpectedEvent {
  readonly modification: string;
  readonly prefix: string;
  readonly oldIdentity: { readonly id: number; readonly source: string } | null;
  readonly newIdentity: { readonly id: number; readonly source: string };
  readonly newHostIP: string | null;
  readonly encryptKey: number;
  readonly endpointFlags: number;
  readonly k8s: unknown;
}

export interface ExpectedEntry {
  readonly key: string;
  readonly id: number;
  readonly source: string;
  readonly hostIP: string | null;
  readonly encryptKey: number;
  readonly endpointFlags: number;
  readonly modifiedByLegacyAPI: boolean;
  readonly overwrittenLegacySource: string;
}

export interface ExpectedMetadata {
  readonly prefix: string;
  readonly source: string;
  readonly tunnelPeer: string;
  readonly encryptKey: number;
  readonly endpointFlags: number | null;
}

export interface ExpectedStep {
  readonly events: readonly ExpectedEvent[];
  readonly state?: { readonly entries: readonly ExpectedEntry[]; readonly metadata: readonly ExpectedMetadata[] };
  readonly remaining?: readonly string[];
  readonly queued?: readonly string[];
}

/** @returns the rule that upstream breaks, or undefined when ours must do the same */
export function whyOursDiffers(steps: readonly GoldenStep[], expected: readonly ExpectedStep[]): string | undefined {
  if (hasSeveralOwners(steps)) return 'a value of another owner is forgotten';
  const told = new Map<string, string>();
  for (const { events, state } of expected) {
    for (const event of events) if (!tell(told, event)) return 'an event without a change';
    if (state === undefined) continue;
    const kept = seenEntries(state.entries);
    if (JSON.stringify([...told].sort()) !== JSON.stringify([...kept].sort())) {
      return 'what was told is not what is kept';
    }
    if (state.metadata.some((metadata) => isStale(metadata, state.entries))) {
      return 'attributes of a resource that left stay';
    }
  }
  return undefined;
}

/** A second owner's value on one key: ours shows it again when the first one goes, upstream does not always. */
function hasSeveralOwners(steps: readonly GoldenStep[]): boolean {
  const owners = new Map<string, Set<string>>();
  const add = (key: string, owner: string): void => {
    owners.set(key, (owners.get(key) ?? new Set()).add(owner));
  };
  for (const step of steps) {
    if (step.op === 'upsert') add(step.ip ?? '', step.source ?? '');
    for (const { prefix } of step.updates ?? []) add(prefix, 'metadata');
    if (step.op === 'overrideIdentity') add(step.prefix ?? '', 'metadata');
  }
  return [...owners.values()].some((set) => set.size > 1);
}

function tell(told: Map<string, string>, event: ExpectedEvent): boolean {
  const { prefix, modification, newIdentity, oldIdentity, newHostIP, encryptKey, endpointFlags } = event;
  if (modification === 'Delete') return told.delete(prefix);
  const value = JSON.stringify([newIdentity.id, newHostIP, encryptKey, endpointFlags]);
  const isRepeated = told.get(prefix) === value && oldIdentity?.source === newIdentity.source && event.k8s === null;
  told.set(prefix, value);
  return !isRepeated;
}

/** The entries that a new listener would have to hear of: an endpoint hides the prefix of its address. */
function seenEntries(entries: readonly ExpectedEntry[]): Map<string, string> {
  const seen = new Map<string, string>();
  for (const { key, id, hostIP, encryptKey, endpointFlags } of entries) {
    const isEndpoint = !key.includes('/');
    const prefix = isEndpoint ? key.replace(/(@.*)?$/, `/${key.includes(':') ? 128 : 32}$1`) : key;
    const endpoint = key.replace(/\/(32|128)(?=@|$)/, '');
    if (endpoint !== key && entries.some((other) => other.key === endpoint)) continue;
    seen.set(prefix, JSON.stringify([id, hostIP, encryptKey, endpointFlags]));
  }
  return seen;
}

function isStale(metadata: ExpectedMetadata, entries: readonly ExpectedEntry[]): boolean {
  const entry = entries.find(({ key }) => key === metadata.prefix);
  if (entry === undefined || entry.modifiedByLegacyAPI) return false;
  return (
    entry.source !== metadata.source ||
    (entry.hostIP ?? '') !== metadata.tunnelPeer ||
    entry.endpointFlags !== (metadata.endpointFlags ?? 0)
  );
}
