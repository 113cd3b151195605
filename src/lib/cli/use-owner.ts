/** How commands that write find out whose map it is, and tell the user before they do anything. */
import * as Flags from '@oclif/core/flags';
import type { BpfMap } from '../bpf/map.ts';
import { collectOwnerEvidence } from '../owner/collect-evidence.ts';
import { decideOwner, type Ownership } from '../owner/decide-owner.ts';
import type { Log } from './log.ts';
import type { SharedValues } from './shared-flags.ts';

const helpGroup = 'OWNER';

/** For every command that writes a map. */
export function soleWriterFlag() {
  return Flags.boolean({
    summary: 'say that nothing out of sight writes this map, where processes or programs cannot be seen',
    helpGroup,
  });
}

/** For the commands that may write beside an agent when told to: see src/lib/owner/operations.ts. */
export function overrideOwnerFlag() {
  return Flags.boolean({ summary: 'write although an agent owns the map and will not know of it', helpGroup });
}

/** For the commands that can put a new map in the place of the pinned one. */
export function programsWillReloadFlag() {
  return Flags.boolean({ summary: 'replace the map although programs or processes hold the old one', helpGroup });
}

export interface UseOwner {
  readonly map: BpfMap;
  readonly shared: Pick<SharedValues, 'state-dir'>;
  /** The value of CILIUM_SOCK. */
  readonly agentSocket: string | undefined;
  readonly soleWriter?: boolean | undefined;
  readonly logger: Log;
}

/** Decides and prints whose map it is; what follows from it is said by `requireOwner`. */
export async function useOwner({ map, shared, agentSocket, soleWriter, logger }: UseOwner): Promise<Ownership> {
  const evidence = await collectOwnerEvidence({
    kernel: map.kernel,
    mapId: map.info.id,
    stateDirectory: shared['state-dir'],
    ...(map.path !== undefined && { pin: map.path }),
    ...(agentSocket !== undefined && { agentSocket }),
  });
  const ownership = decideOwner(evidence, { soleWriter: soleWriter ?? false });
  const { owner, reasons } = ownership;
  logger.info(`${map.label} belongs to ${OWNER_WORDS[owner]}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`, {
    owner,
  });
  return ownership;
}

const OWNER_WORDS: Readonly<Record<Ownership['owner'], string>> = {
  agent: 'an agent',
  ipc: 'ipc',
  nobody: 'nobody',
  unknown: 'somebody who cannot be seen from here',
};
