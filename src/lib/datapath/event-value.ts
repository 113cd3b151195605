/** What the cache has for a prefix as the bytes of a value: identity, tunnel by the rules of this node, key, flags. */
import type { CacheEntry } from '../cache/listener.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import type { Layout } from '../ipcache/layout.ts';
import { encodeValue, newRemoteEndpointInfo } from '../ipcache/remote-endpoint-info.ts';
import { type TunnelRules, tunnelOfHost } from './tunnel-endpoint.ts';

type ValuedEntry = Pick<CacheEntry, 'identity' | 'hostIP' | 'encryptKey' | 'endpointFlags'>;

/** Hosts are nodes; more of them than any cluster has are not remembered. */
const MAX_HOSTS = 65_536;

/** Makes values; what follows from a host is worked out once per host. */
export class ValueEncoder {
  readonly #layout: Layout;
  readonly #rules: TunnelRules;
  readonly #hosts = new Map<string | undefined, Uint8Array>();

  constructor(layout: Layout, rules: TunnelRules) {
    this.#layout = layout;
    this.#rules = rules;
  }

  /**
   * Fills `value`, of the layout's length.
   * @throws {LayoutError} where the layout has no place for a part that is not zero
   */
  write(entry: ValuedEntry, value: Uint8Array): void {
    const { identity, encryptKey, flags } = this.#layout.value;
    const hasRoom = entry.encryptKey === 0 || encryptKey !== undefined;
    if (!hasRoom || (entry.endpointFlags !== 0 && flags === undefined) || identity.bytes === 2) {
      value.set(this.#encode(entry));
      return;
    }
    const ofHost = this.#hosts.get(entry.hostIP) ?? this.#host(entry.hostIP);
    for (let i = 0; i < ofHost.length; i++) value[i] = ofHost[i] as number;
    value[identity.offset] = entry.identity & 0xff;
    value[identity.offset + 1] = (entry.identity >>> 8) & 0xff;
    value[identity.offset + 2] = (entry.identity >>> 16) & 0xff;
    value[identity.offset + 3] = entry.identity >>> 24;
    if (encryptKey !== undefined) value[encryptKey] = entry.encryptKey;
    if (flags !== undefined) value[flags] = (value[flags] as number) | entry.endpointFlags;
  }

  #host(hostIP: string | undefined): Uint8Array {
    const value = this.#encode({ identity: 0, hostIP, encryptKey: 0, endpointFlags: 0 });
    if (this.#hosts.size === MAX_HOSTS) this.#hosts.clear();
    this.#hosts.set(hostIP, value);
    return value;
  }

  #encode({ identity, hostIP, encryptKey, endpointFlags }: ValuedEntry): Uint8Array {
    const tunnel = tunnelOfHost(this.#rules, hostIP);
    const info = newRemoteEndpointInfo(this.#layout, {
      identity: numericIdentity(identity),
      encryptKey,
      flags: endpointFlags,
      ...(tunnel && { tunnel }),
    });
    return encodeValue(this.#layout, info);
  }
}
