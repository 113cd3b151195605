/** In how many policy maps of this machine numbers stand: who is hurt when they change. */
import { readFileSync } from 'node:fs';
import { bpffsRoots } from '../bpf/bpffs.ts';
import { ToolError } from '../errors.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import { policyEndpoints } from '../policymap/policy-use.ts';
import type { Log } from './log.ts';

export interface PolicyMapOptions {
  readonly bpffs: string | undefined;
  readonly tcBpfMnt: string | undefined;
  readonly logger: Log;
  readonly signal: AbortSignal;
}

/** Endpoints whose policy map has the number; null where not all could be read. */
export type PolicyMapCounter = (identity: number) => number | null;

/** @returns undefined where there are no numbers to count; where there are no policy maps every number stands in 0 */
export async function policyMapCounter(
  ids: ReadonlySet<number>,
  { bpffs, tcBpfMnt, logger, signal }: PolicyMapOptions,
): Promise<PolicyMapCounter | undefined> {
  if (ids.size === 0) return undefined;
  try {
    const roots = bpffsRoots({ bpffs, tcBpfMnt, mountinfo: readFileSync('/proc/self/mountinfo', 'utf8') });
    const { endpoints, problems } = await policyEndpoints({ kernel: new LinuxKernel(), roots, ids, signal });
    for (const problem of problems) logger.warn(`policy maps were not all counted: ${problem}`);
    // A map that could not be read may have any number.
    return (identity) => (problems.length > 0 ? null : (endpoints.get(identity)?.size ?? 0));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    logger.warn(`policy maps were not counted: ${error.message}`);
    return () => null;
  }
}
