/** Whose a pin is, also where nothing is pinned yet: an agent may be there without a map. */
import type { IpcacheMap } from '../ipcache/ipcache-map.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import { collectOwnerEvidence } from '../owner/collect-evidence.ts';
import { decideOwner, type Ownership } from '../owner/decide-owner.ts';
import type { Log } from './log.ts';
import type { SharedValues } from './shared-flags.ts';
import { useOwner } from './use-owner.ts';

export interface OwnerOfPin {
  readonly shared: Pick<SharedValues, 'state-dir'>;
  readonly flags: { readonly 'sole-writer': boolean };
  /** The value of CILIUM_SOCK. */
  readonly agentSocket: string | undefined;
  readonly logger: Log;
}

/** No map has this id. */
const NO_MAP = 0;

export async function ownerOfPin(
  { pin, present }: { readonly pin: string; readonly present?: IpcacheMap },
  { shared, flags, agentSocket, logger }: OwnerOfPin,
): Promise<Ownership> {
  const soleWriter = flags['sole-writer'];
  if (present !== undefined) return useOwner({ map: present.map, shared, agentSocket, soleWriter, logger });
  const evidence = await collectOwnerEvidence({
    kernel: new LinuxKernel(),
    mapId: NO_MAP,
    pin,
    stateDirectory: shared['state-dir'],
    ...(agentSocket !== undefined && { agentSocket }),
  });
  return decideOwner(evidence, { soleWriter });
}
