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
    const { ready, reasons, stateDir, pin, restored, placeholders, identities, ingress, pending } = model;
    yield ready ? paint.bold('ready') : paint.bad('not ready');
    for (const reason of reasons) yield `  ${escapeText(reason)}`;
    yield escapeText(`state      ${stateDir}${model.time === undefined ? '' : `, written ${model.time}`}`);
    if (pin !== undefined) yield escapeText(`map        ${pin} (id ${model.mapId ?? 'unknown'})`);
    if (restored !== undefined) {
      const source = restored.from ?? `map id ${restored.mapId}`;
      yield escapeText(`restored   ${restored.time} from ${source}`);
      const counts = Object.entries(restored.summary).map(([name, count]) => `${name} ${count ?? 'unknown'}`);
      yield `           ${escapeText(counts.join(', '))}`;
      if (restored.released !== undefined) yield escapeText(`released   ${restored.released}`);
      else if (restored.releaseAt === undefined)
        yield 'release    when all sources are synced, and the grace period after';
      else yield escapeText(`release    ${restored.due ? 'due since' : 'not before'} ${restored.releaseAt}`);
    }
    if (placeholders !== undefined) {
      yield `holds      ${placeholders} placeholders, ${identities} numbers, ${ingress?.length ?? 0} ingress addresses`;
    }
    if (pending) yield paint.warning(`pending    ${pending} writes`);
    for (const { name, synced, connected, error } of model.sources ?? []) {
      const state = error ?? (connected ? 'connected' : 'not connected');
      yield escapeText(`source     ${name}: ${state}, ${synced === undefined ? 'never synced' : `synced ${synced}`}`);
    }
    if (model.listen !== undefined) yield escapeText(`listen     ${listenWords(model.listen)}`);
    for (const { flag, value, from } of model.config ?? []) yield escapeText(`  --${flag} ${String(value)} (${from})`);
  },
};

function listenWords({ pid, phase, ready, restore }: JsonObject): string {
  const words = `pid ${pid}, phase ${phase}, ${ready === true ? 'ready' : 'not ready'}`;
  if (typeof restore !== 'object' || restore === null) return words;
  const { placeholders, releaseAt, released } = restore as JsonObject;
  if (released !== undefined) return `${words}, placeholders ended ${released}`;
  return `${words}, ${placeholders} placeholders until ${releaseAt ?? 'a grace period after all sources are synced'}`;
}
