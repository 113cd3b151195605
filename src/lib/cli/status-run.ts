/** `ipc status`: what is remembered of the last restore, what will be released when, and whether the loop is well. */
import { openPin } from '../bpf/open-pin.ts';
import { FindingError, NotFoundError, ToolError, UnreachableError } from '../errors.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import type { StatusModel } from '../output/status-view.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { readLockHolder } from '../state/lock.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { askControl } from './ask-control.ts';

export interface StatusOptions {
  readonly directory: string;
  readonly socket: string;
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface StatusResult {
  readonly model: StatusModel;
  /** To be thrown after the report: 10 not ready, 8 no answer. */
  readonly failure?: ToolError;
}

/** @throws {NotFoundError} code NO_STATE @throws {MalformedError} the state is damaged */
export async function readStatus(options: StatusOptions): Promise<StatusResult> {
  const { directory, socket, timeoutMs } = options;
  const state = readCheckpoint(directory);
  let loop: unknown;
  let silent: UnreachableError | undefined;
  try {
    loop = socket === '' ? undefined : await askControl(socket, '/ipc/v1/status', timeoutMs);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    silent = error;
  }
  if (state === undefined && loop === undefined && silent === undefined) throw noState(directory);
  const holder = readLockHolder(directory);
  if (loop === undefined && socket !== '') silent ??= missingLoop(socket, state, holder?.pid);
  const model = modelOf(options, state, loop, holder?.pid);
  if (silent !== undefined) return { model, failure: silent };
  return model.ready ? { model } : { model, failure: notReady(model.reasons) };
}

function modelOf(
  { directory, now }: StatusOptions,
  state: StateCheckpoint | undefined,
  loop: unknown,
  holder: number | undefined,
): StatusModel {
  const mapId = state === undefined ? undefined : pinnedId(state.pin);
  const reasons = [...stateReasons(state, mapId), ...loopReasons(loop)];
  const { restored } = state ?? {};
  const releaseAt =
    restored === undefined ? undefined : Date.parse(restored.graceFrom ?? restored.time) + restored.graceMs;
  return {
    stateDir: directory,
    ready: reasons.length === 0,
    reasons,
    ...(state !== undefined && {
      pin: state.pin,
      time: state.time,
      mapId,
      identities: state.identities.length,
      ingress: state.ingress,
      placeholders: state.placeholders.length,
      pending: state.pending.length,
      sources: state.sources,
    }),
    ...(restored !== undefined && {
      restored: {
        ...restored,
        releaseAt: restored.graceFrom === undefined ? undefined : new Date(releaseAt ?? now).toISOString(),
        due: restored.released === undefined && releaseAt !== undefined && now >= releaseAt,
      },
    }),
    ...(holder !== undefined && { lockedBy: holder }),
    ...(isObject(loop) && { listen: loop }),
  };
}

function stateReasons(state: StateCheckpoint | undefined, mapId: number | null | undefined): string[] {
  if (state === undefined) return [];
  const reasons: string[] = [];
  if (state.pending.length > 0) reasons.push(`${state.pending.length} writes are pending`);
  if (mapId === undefined) reasons.push(`nothing is pinned to ${state.pin}`);
  else if (mapId !== null && state.map !== undefined && state.map.id !== mapId) {
    reasons.push(`another map was pinned to ${state.pin} since: id ${mapId}, not ${state.map.id}`);
  }
  return reasons;
}

function loopReasons(loop: unknown): string[] {
  if (!isObject(loop) || loop.ready === true) return [];
  const reasons = typeof loop.phase === 'string' ? [`phase ${loop.phase}`] : [];
  for (const source of Array.isArray(loop.sources) ? loop.sources : []) {
    if (isObject(source) && source.condition !== 'synced' && source.condition !== 'ended')
      reasons.push(`source ${source.name} is ${source.condition}`);
  }
  if (typeof loop.queued === 'number' && loop.queued > 0) reasons.push(`${loop.queued} prefixes wait to be resolved`);
  if (typeof loop.pending === 'number' && loop.pending > 0) reasons.push(`${loop.pending} writes are pending`);
  return [`ipc listen is not ready: ${reasons.length === 0 ? 'it does not say why' : reasons.join(', ')}`];
}

/** @returns undefined when nothing is pinned there, null when it cannot be seen */
function pinnedId(pin: string): number | null | undefined {
  try {
    using map = openPin(pin, { kernel: new LinuxKernel() });
    return map.info.id;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (error instanceof ToolError) return null;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function noState(directory: string): NotFoundError {
  return new NotFoundError(`Cannot tell the status: there is no state in ${directory}, and no ipc listen answers`, {
    code: 'NO_STATE',
    hint: 'ipc restore and ipc listen keep one; name its directory with --state-dir',
    operands: { path: directory },
  });
}

/** A loop that keeps the state, or that ended without a word, is not simply absent. */
function missingLoop(
  socket: string,
  { writer }: Partial<StateCheckpoint> = {},
  holder: number | undefined,
): UnreachableError | undefined {
  if (writer === undefined) return undefined;
  const { pid } = writer;
  const silent = (state: string, hint: string): UnreachableError =>
    new UnreachableError(`Cannot ask ipc listen (pid ${pid}): ${state}`, {
      code: 'CONTROL_SILENT',
      hint,
      operands: { path: socket, pid },
    });
  if (holder === pid) return silent(`it does not answer on ${socket}`, 'name its control socket with --socket');
  if (holder !== undefined || writer.drained) return undefined;
  return silent(
    'it ended without stopping in order',
    'start it again: it goes on with what is remembered; --socket "" asks for no loop',
  );
}

function notReady(reasons: readonly string[]): FindingError {
  return new FindingError(`Cannot call it ready: ${reasons.join('; ')}`, {
    code: 'NOT_READY',
    hint: 'ipc doctor shows the map and who uses it',
  });
}
