/** How `ipc status` looks. */
import type { RestoredState, SourceState } from '../state/checkpoint.ts';
import { escapeText } from './escape.ts';
import type { JsonObject, ReportView } from './view.ts';

export interface StatusModel {
  readonly stateDir: string;
  readonly ready: boolean;
  /** Why it is not. */
  readonly reasons: readonly string[];
  readonly pin?: string;
  /** When the state was written. */
  readonly time?: string;
  /** The map that is pinned there now; absent: none; null: it cannot be seen. */
  readonly mapId?: number | null | undefined;
  readonly identities?: number;
  readonly ingress?: readonly string[];
  readonly placeholders?: number;
  readonly pending?: number;
  readonly sources?: readonly SourceState[];
  readonly restored?: RestoredState & { readonly releaseAt?: string | undefined; readonly due: boolean };
  /** The process that writes now. */
  readonly lockedBy?: number;
  /** What a running loop says of itself. */
  readonly listen?: JsonObject;
  /** With --config-sources: every value and where it is from. */
  readonly config?: readonly ConfigSource[];
}

export interface ConfigSource {
  readonly flag: string;
  readonly value: unknown;
  readonly from: string;
}

export const statusView: ReportView<StatusModel> = {
  kind: 'status',
  json: (model) => {
    const { ready, reasons, stateDir, pin, mapId, time, lockedBy, restored, placeholders, identities } = model;
    return {
      ready,
      reasons: reasons.length > 0 ? reasons : undefined,
      stateDir,
      pin,
      mapId,
      time,
      lockedBy,
      restored,
      placeholders,
      identities,
      ingress: model.ingress,
      pending: model.pending,
      sources: model.sources,
      listen: model.listen,
      config: model.config,
    };
  },
  *text(model, paint) {
    const { ready, reasons, stateDir, pin, restored, placeholders, identities, ingress, pending, listen } = model;
    yield ready ? paint.bold('ready') : paint.bad('not ready');
    for (const reason of reasons) yield `  ${escapeText(reason)}`;
    yield escapeText(`state      ${stateDir}${model.time === undefined ? '' : `, written ${model.time}`}`);
    if (pin !== undefined) yield escapeText(`map        ${pin} (id ${model.mapId ?? 'unknown'})`);
    // The state may be ten seconds older than what the loop that keeps it says itself.
    const isLive = listen !== undefined && listen.pid === model.lockedBy;
    if (restored !== undefined) {
      const source = restored.from ?? `map id ${restored.mapId}`;
      yield escapeText(`restored   ${restored.time} from ${source}`);
      const counts = Object.entries(restored.summary).map(([name, count]) => `${name} ${count ?? 'unknown'}`);
      yield `           ${escapeText(counts.join(', '))}`;
      if (!isLive) yield escapeText(releaseWords(restored));
    }
    if (placeholders !== undefined) {
      yield `holds      ${placeholders} placeholders, ${identities} numbers, ${ingress?.length ?? 0} ingress addresses`;
    }
    if (pending && !isLive) yield paint.warning(`pending    ${pending} writes`);
    for (const { name, synced, connected, error } of isLive ? [] : (model.sources ?? [])) {
      yield escapeText(`source     ${name}: ${error ?? (connected ? 'connected' : 'not connected')}, ${since(synced)}`);
    }
    if (listen !== undefined) {
      yield escapeText(`listen     ${listenWords(listen)}`);
      for (const words of liveSources(listen)) yield escapeText(`source     ${words}`);
      const waiting = pendingWords(listen);
      if (waiting !== undefined) yield paint.warning(escapeText(`pending    ${waiting}`));
    }
    for (const { flag, value, from } of model.config ?? []) yield escapeText(`  --${flag} ${String(value)} (${from})`);
  },
};

function releaseWords({ released, releaseAt, due }: NonNullable<StatusModel['restored']>): string {
  if (released !== undefined) return `released   ${released}`;
  if (releaseAt === undefined) return 'release    when all sources are synced, and the grace period after';
  return `release    ${due ? 'due since' : 'not before'} ${releaseAt}`;
}

function since(synced: unknown): string {
  return typeof synced === 'string' ? `synced ${synced}` : 'never synced';
}

function liveSources({ sources }: JsonObject): string[] {
  const known = Array.isArray(sources) ? sources.filter((source) => typeof source === 'object' && source !== null) : [];
  return known.map(({ name, condition, reason, synced }: JsonObject) => {
    const state = reason === undefined ? condition : `${condition}, ${reason}`;
    return `${name}: ${state}, ${since(synced)}`;
  });
}

function pendingWords({ pending, stall }: JsonObject): string | undefined {
  if (typeof pending !== 'number' || pending === 0) return undefined;
  return stall === undefined ? `${pending} writes` : `${pending} writes: ${stall}`;
}

function listenWords({ pid, phase, ready, restore }: JsonObject): string {
  const words = `pid ${pid}, phase ${phase}, ${ready === true ? 'ready' : 'not ready'}`;
  if (typeof restore !== 'object' || restore === null) return words;
  const { placeholders, releaseAt, released } = restore as JsonObject;
  if (released !== undefined) return `${words}, placeholders ended ${released}`;
  return `${words}, ${placeholders} placeholders until ${releaseAt ?? 'a grace period after all sources are synced'}`;
}
