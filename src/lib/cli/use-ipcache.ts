/** How commands come from their shared flags to an open map, and tell the user which one it is. */

import type { BpfMap } from '../bpf/map.ts';
import { parseMapRef } from '../bpf/map-ref.ts';
import { openIpcacheMap } from '../bpf/open-ipcache-map.ts';
import type { PinChoice } from '../bpf/pick-pin.ts';
import type { LayoutChoice } from '../ipcache/choose-layout.ts';
import { type IpcacheMap, knownLayoutOf, openIpcache } from '../ipcache/ipcache-map.ts';
import { parseLayoutName } from '../ipcache/parse-layout-name.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import type { Log } from './log.ts';
import type { SharedValues } from './shared-flags.ts';

export interface UseIpcache {
  readonly shared: Pick<SharedValues, 'map' | 'bpffs' | 'layout'>;
  /** The value of TC_BPF_MNT. */
  readonly tcBpfMnt: string | undefined;
  readonly logger: Log;
  readonly signal: AbortSignal;
  readonly write?: boolean;
}

/** Opens the map that the flags name and finds out its layout, by a walk if need be. @throws what openIpcache throws. */
export async function useIpcache(options: UseIpcache): Promise<IpcacheMap> {
  const ipcache = await openIpcache({ ...openOptions(options), signal: options.signal });
  logChoice(ipcache.choice, options.logger);
  const { layout, by } = ipcache.layoutChoice;
  if (by === 'assumed') options.logger.debug(`layout ${layout.name} assumed: nothing in the map tells versions apart`);
  return ipcache;
}

export interface UsedMap extends Disposable {
  readonly map: BpfMap;
  /** Undefined for a 12-byte map, whose layout only a walk would tell. */
  readonly layoutChoice: LayoutChoice | undefined;
}

/** Opens the map that the flags name without walking it. @throws what openIpcacheMap and knownLayoutOf throw. */
export function useMap(options: Omit<UseIpcache, 'signal'>): UsedMap {
  const open = openOptions(options);
  const { map, choice } = openIpcacheMap(open.ref, open);
  try {
    logChoice(choice, options.logger);
    return { map, layoutChoice: knownLayoutOf(map, open.layout), [Symbol.dispose]: () => map[Symbol.dispose]() };
  } catch (error) {
    map[Symbol.dispose]();
    throw error;
  }
}

function openOptions({ shared, tcBpfMnt, write = false }: Omit<UseIpcache, 'signal'>) {
  return {
    kernel: new LinuxKernel(),
    layout: shared.layout === undefined ? undefined : parseLayoutName(shared.layout),
    ref: shared.map === undefined ? undefined : parseMapRef(shared.map),
    bpffs: shared.bpffs,
    tcBpfMnt,
    write,
  };
}

function logChoice(choice: PinChoice | undefined, logger: Log): void {
  if (choice === undefined) return;
  const message = `using ${choice.path}: ${choice.reason}`;
  // A lone pin is what everybody expects; a choice between pins is something to know.
  if (choice.others.length > 0) logger.info(message);
  else logger.debug(message);
}
