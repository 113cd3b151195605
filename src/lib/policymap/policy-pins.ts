/** Where the policy maps of endpoints are pinned. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, fileError } from '../fs/file-error.ts';

export interface PolicyPin {
  readonly path: string;
  readonly endpoint: number;
}

/** `cilium_policy_v3_01234` (1.20), `cilium_policy_v2_01234` (1.17), `cilium_policy_01234` before. */
const NAME = /^cilium_policy_(?:v[0-9]+_)?([0-9]{5})$/;

/**
 * The pins below bpffs roots, by endpoint. Several of one endpoint, left over from an upgrade, are all listed.
 * @throws {NotPermittedError} when a directory may not be read
 */
export function policyPins(roots: readonly string[]): PolicyPin[] {
  return roots.flatMap(pinsBelow).sort((a, b) => a.endpoint - b.endpoint || (a.path < b.path ? -1 : 1));
}

function pinsBelow(root: string): PolicyPin[] {
  const directory = join(root, 'tc/globals');
  try {
    return readdirSync(directory).flatMap((name) => {
      const [, digits] = NAME.exec(name) ?? [];
      return digits === undefined ? [] : [{ path: join(directory, name), endpoint: Number(digits) }];
    });
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return [];
    throw fileError('list policy maps in', directory, cause);
  }
}
