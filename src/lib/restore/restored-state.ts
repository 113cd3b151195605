/** What is remembered of a restore, for release, gc, status and the agent loop. */
import { canonicalLabels } from '../identity/label-resolver.ts';
import type { Labels } from '../identity/labels.ts';
import { hasLocalScope, hasRemoteNodeScope } from '../identity/numeric-identity.ts';
import type { Placeholder, RestoredState, StateCheckpoint, StateIdentity } from '../state/checkpoint.ts';
import { guessedLabelTexts } from './guessed-labels.ts';
import type { Kept, SourceEntry } from './kept-entries.ts';
import type { KnownLabels } from './known-labels.ts';
import { isPlaced, type PlannedEntry, type RestorePlan } from './planned-entry.ts';

/** How long placeholders are kept, unless the user says otherwise: as long as the agent keeps its own. */
export const DEFAULT_GRACE_MS = 30_000;

export interface RestoredStateInput {
  readonly previous: StateCheckpoint | undefined;
  readonly plan: RestorePlan;
  /** Entries that were planned but are not in the map. */
  readonly failed: ReadonlySet<PlannedEntry>;
  readonly kept: Kept;
  readonly known: KnownLabels;
  readonly map: { readonly id: number; readonly layout: string };
  readonly source: Pick<RestoredState, 'mapId' | 'from'>;
  readonly summary: RestoredState['summary'];
  /** RFC 3339. */
  readonly time: string;
  readonly bootId: string;
  /** The agent that starts next keeps the numbers and releases them: no placeholders. */
  readonly handOver: boolean;
}

export function restoredState(input: RestoredStateInput): Omit<StateCheckpoint, 'pin'> {
  const { previous, plan, failed, map, source, summary, time, bootId, handOver } = input;
  const placed = plan.entries.filter((entry) => isPlaced(entry) && !failed.has(entry));
  return {
    time,
    bootId,
    map,
    restored: {
      time,
      ...source,
      graceMs: handOver ? 0 : DEFAULT_GRACE_MS,
      graceFrom: time,
      ...(handOver && { released: time }),
      summary,
    },
    identities: identities(input, placed),
    ingress: placed.filter(({ kind }) => kind === 'ingress').map(({ prefix }) => prefix),
    placeholders: handOver ? [] : placeholders(placed, previous, time),
    sources: previous?.sources ?? [],
    pending: [],
    collected: previous?.collected ?? [],
  };
}

/** A checkpoint may have numbers of other scopes, and the user may prefer them; nobody here gives those out or frees them. */
function isHeld(kind: PlannedEntry['kind'], identity: number): boolean {
  return kind !== 'ingress' && (hasLocalScope(identity) || hasRemoteNodeScope(identity));
}

interface Gathered {
  labels?: Labels | undefined;
  texts?: readonly string[];
  labelsFrom?: StateIdentity['labelsFrom'];
  readonly prefixes: string[];
}

function identities({ plan, kept, known }: RestoredStateInput, placed: readonly PlannedEntry[]): StateIdentity[] {
  const found = new Map<number, Gathered>();
  const get = (id: number): Gathered => {
    let gathered = found.get(id);
    if (gathered === undefined) {
      gathered = { prefixes: [] };
      found.set(id, gathered);
    }
    return gathered;
  };
  for (const { prefix, identity, labels, labelsFrom, kind } of placed) {
    if (!isHeld(kind, identity)) continue;
    const gathered = get(identity);
    gathered.prefixes.push(prefix);
    gathered.labels ??= labels;
    gathered.labelsFrom ??= labelsFrom;
    if (labels === undefined && labelsFrom === 'guessed') gathered.texts = guessedLabelTexts(prefix, known.options);
  }
  kept.forEach((entry) => {
    if (entry.class !== 'local' && isRemembered(entry)) get(entry.identity).prefixes.push(entry.prefix);
  });
  for (const id of plan.withheld) {
    const gathered = get(id);
    if (gathered.labels !== undefined || gathered.texts !== undefined) continue;
    gathered.labels = known.labels(id);
    if (gathered.labels !== undefined) gathered.labelsFrom = 'allocator';
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([identity, { labels, texts, labelsFrom, prefixes }]) => {
      const shown = labels === undefined ? texts : canonicalLabels(labels);
      return shown === undefined || labelsFrom === undefined
        ? { identity, prefixes }
        : { identity, labels: shown, labelsFrom, prefixes };
    });
}

/** Keys that are no prefix, or not only one, have no text that the state could hold. */
function isRemembered({ identity, class: kind, prefix }: SourceEntry): boolean {
  if (!hasLocalScope(identity) && !hasRemoteNodeScope(identity)) return false;
  return kind !== 'no-prefix' && kind !== 'v4-mapped' && !prefix.startsWith('0x');
}

function placeholders(
  placed: readonly PlannedEntry[],
  previous: StateCheckpoint | undefined,
  time: string,
): Placeholder[] {
  const since = new Map(previous?.placeholders.map((placeholder) => [placeholder.prefix, placeholder]));
  const made: Placeholder[] = [];
  for (const { prefix, identity, kind } of placed) {
    if (!isHeld(kind, identity)) continue;
    const before = since.get(prefix);
    made.push({
      prefix,
      identity,
      ...(kind !== 'known' && { requested: true as const }),
      time: before?.identity === identity ? before.time : time,
    });
  }
  return made;
}
