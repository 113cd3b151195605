/** Host addresses as one string each: a cluster has few nodes and very many addresses that live on them. */
import { formatAddress, isMapped, parseAddress } from '../net/address.ts';

/** More than any cluster has nodes; a flood of different hosts must not grow this for ever. */
const MOST_HOSTS = 16_384;

const pool = new Map<string, string>();

/** Canonical text, v4-mapped addresses unmapped, the same string each time. @returns undefined for what is no address */
export function canonicalHost(text: string): string | undefined {
  const known = pool.get(text);
  if (known !== undefined) return known;
  const bytes = parseAddress(text);
  if (bytes === undefined) return undefined;
  const host = formatAddress(isMapped(bytes) ? bytes.subarray(12) : bytes);
  if (pool.size >= MOST_HOSTS) pool.clear();
  pool.set(text, host);
  return host;
}
