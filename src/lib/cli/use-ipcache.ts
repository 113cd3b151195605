/** How commands come from their shared flags to an open map, and tell the user which one it is. */
import { parseMapRef } from '../bpf/map-ref.ts';
import { type IpcacheMap, openIpcache } from '../ipcache/ipcache-map.ts';
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

/** Opens the map that the flags name; a choice made for the user is logged. @throws what openIpcache throws. */
export async function useIpcache({ shared, tcBpfMnt, logger, signal, write = false }: UseIpcache): Promise<IpcacheMap> {
  const layout = shared.layout === undefined ? undefined : parseLayoutName(shared.layout);
  const ipcache = await openIpcache({
    kernel: new LinuxKernel(),
    ref: shared.map === undefined ? undefined : parseMapRef(shared.map),
    bpffs: shared.bpffs,
    tcBpfMnt,
    layout,
    signal,
    write,
  });
  const { choice, layoutChoice } = ipcache;
  if (choice !== undefined) {
    const message = `using ${choice.path}: ${choice.reason}`;
    // A lone pin is what everybody expects; a choice between pins is something to know.
    if (choice.others.length > 0) logger.info(message);
    else logger.debug(message);
  }
  if (layoutChoice.by === 'assumed') {
    logger.debug(`layout ${layoutChoice.layout.name} assumed: nothing in the map tells its versions apart`);
  }
  return ipcache;
}
