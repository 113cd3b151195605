/** The map that a loop feeds: the pinned one, a new one where there is none, or a new one in its place. */
import { createMap } from '../bpf/create-map.ts';
import type { BpfMap } from '../bpf/map.ts';
import { openPin } from '../bpf/open-pin.ts';
import { pinMap, renamePin, unpin } from '../bpf/pin.ts';
import type { Ipcache } from '../cache/ipcache.ts';
import { BpfListener } from '../datapath/bpf-listener.ts';
import { MapWriter } from '../datapath/map-writer.ts';
import type { TunnelRules } from '../datapath/tunnel-endpoint.ts';
import { FailedError, NotFoundError } from '../errors.ts';
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import type { Layout, LayoutName } from '../ipcache/layout.ts';
import type { Kernel } from '../native/kernel.ts';
import { newMapSpec } from '../restore/new-map-spec.ts';
import { replayInTurns } from './replay.ts';

export interface NewTargetOptions {
  readonly kernel: Kernel;
  readonly pin: string;
  /** The map that the new one is modelled on and takes the place of. */
  readonly replaces: IpcacheMap | undefined;
  readonly layout: LayoutName | undefined;
  readonly maxEntries: number | undefined;
  readonly flags: number | undefined;
}

export interface Target {
  readonly map: BpfMap;
  readonly layout: Layout;
}

const PENDING = '_pending';

/** Makes a map and pins it where there is no pin. @throws {ToolError} what the kernel answers */
export function createTarget(options: NewTargetOptions): Target {
  const { kernel, pin } = options;
  const { spec, layout } = specOf(options);
  using map = createMap(kernel, spec);
  pinMap(map, pin);
  // Opened by its name, which messages then have.
  return { map: openPin(pin, { kernel, write: true }), layout };
}

/**
 * Fills a new map with all that the cache has, beside the pin, and puts it in the place of the old one in one step.
 * @throws {FailedError} an entry that could not be written: the old map stays
 */
export async function recreateTarget(options: NewTargetOptions, cache: Ipcache, rules: TunnelRules): Promise<Target> {
  const { pin } = options;
  const pending = `${pin}${PENDING}`;
  // Left over from a run that was killed while it filled it.
  removePin(pending);
  const target = createTarget({ ...options, pin: pending });
  try {
    const { layout, map } = target;
    const timers = { setTimeout, clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) };
    const writer = new MapWriter({ map, layout, timers, random: () => 0 });
    const listener = new BpfListener({ layout, rules, changes: writer });
    await replayInTurns(cache, listener, { drained: () => writer.drained() });
    await writer.flush();
    const { pending: missing } = writer;
    const reason = writer.stall ?? `${writer.counts.failed} writes failed`;
    await writer.stop();
    if (missing > 0 || writer.counts.failed > 0) {
      throw new FailedError(`Cannot recreate ${pin}: the new map could not be filled: ${reason}`, {
        hint: 'the old map stays where it is',
        operands: { path: pin },
      });
    }
    renamePin(pending, pin);
    map[Symbol.dispose]();
    return { map: openPin(pin, { kernel: options.kernel, write: true }), layout };
  } catch (error) {
    removePin(pending);
    target.map[Symbol.dispose]();
    throw error;
  }
}

function specOf({ pin, replaces, layout, maxEntries, flags }: NewTargetOptions) {
  const info = replaces?.map.info;
  return newMapSpec({
    pin: pin.endsWith(PENDING) ? pin.slice(0, -PENDING.length) : pin,
    layout,
    maxEntries,
    flags,
    ...(replaces !== undefined &&
      info !== undefined && {
        replaces: { layout: replaces.layout, maxEntries: info.maxEntries, flags: info.flags },
      }),
  });
}

function removePin(pin: string): void {
  try {
    unpin(pin);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}
