import { parseAddress } from '../net/address.ts';
import { MAX_CLUSTER_ID, makePrefix, type Prefix, samePrefixBits } from '../net/prefix.ts';

/**
 * Reads `ADDR/LEN[@CLUSTER]` as a map has it: v4-mapped addresses stay IPv6.
 * @returns undefined for anything else, and where bits beyond the length are set
 */
export function parseStoredPrefix(text: string): Prefix | undefined {
  const match = /^([^/@]+)\/(0|[1-9]\d{0,2})(?:@([1-9]\d{0,4}))?$/.exec(text);
  const address = parseAddress(match?.[1] ?? '');
  if (match === null || address === undefined) return undefined;
  const length = Number(match[2]);
  const clusterId = Number(match[3] ?? 0);
  if (length > address.length * 8 || clusterId > MAX_CLUSTER_ID) return undefined;
  const prefix = makePrefix(address, length, clusterId);
  return samePrefixBits(prefix.address, address, address.length * 8) ? prefix : undefined;
}
