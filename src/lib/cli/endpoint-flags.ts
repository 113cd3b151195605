/** From the flags that describe an entry to the entry that is written; the same for every command that writes one. */
import { UsageError } from '../errors.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import { flagNames } from '../ipcache/flags.ts';
import { FLAG } from '../ipcache/layout.ts';
import type { RemoteEndpoint } from '../ipcache/remote-endpoint-info.ts';

export interface EndpointFlags {
  readonly tunnel?: Uint8Array | undefined;
  readonly 'encrypt-key': number;
  readonly flag?: readonly number[] | undefined;
}

/**
 * @throws {UsageError} TUNNEL_FLAG a flag speaks of a tunnel that --tunnel does not give: the datapath would send the
 * packets to no address, or to a wrong one
 */
export function endpointOf(
  identity: number,
  { tunnel, flag = [], 'encrypt-key': encryptKey }: EndpointFlags,
): RemoteEndpoint {
  const flags = flag.reduce((bits, bit) => bits | bit, 0);
  const impossible = flags & (FLAG.hastunnel | FLAG.ipv6tunnel) & ~flagsOfTunnel(tunnel);
  if (impossible !== 0) throw tunnelFlag(flagNames(impossible), tunnel);
  return { identity: numericIdentity(identity), encryptKey, flags, ...(tunnel && { tunnel }) };
}

function flagsOfTunnel(tunnel: Uint8Array | undefined): number {
  if (tunnel === undefined) return 0;
  return tunnel.length === 16 ? FLAG.hastunnel | FLAG.ipv6tunnel : FLAG.hastunnel;
}

function tunnelFlag(names: readonly string[], tunnel: Uint8Array | undefined): UsageError {
  const state = tunnel === undefined ? 'no tunnel endpoint is given' : 'the tunnel endpoint is an IPv4 address';
  return new UsageError(`Cannot use --flag ${names.join(',')}: ${state}`, {
    code: 'TUNNEL_FLAG',
    hint: 'give the address of the node with --tunnel; the flags of the tunnel follow from it',
    operands: { flag: '--flag' },
  });
}
