/** Reads the fields of a value in place, for formats that write an entry without decoding it into an object. */
import { flagNames } from '../../ipcache/flags.ts';
import { FLAG, type Layout } from '../../ipcache/layout.ts';
import { bytesOf, putIPv4, putIPv6 } from '../put.ts';

export class ValueFields {
  readonly #identityBytes: number;
  readonly #tunnel: number;
  readonly #tunnelBytes: number;
  readonly #encryptKey: number;
  readonly #flags: number;
  readonly #hasTunnelFlag: boolean;

  constructor(layout: Layout) {
    const { identity, tunnel, encryptKey, flags, knownFlags } = layout.value;
    this.#identityBytes = identity.bytes;
    this.#tunnel = tunnel?.offset ?? -1;
    this.#tunnelBytes = tunnel?.bytes ?? 0;
    this.#encryptKey = encryptKey ?? -1;
    this.#flags = flags ?? -1;
    this.#hasTunnelFlag = (knownFlags & FLAG.hastunnel) !== 0;
  }

  identity(values: Uint8Array, offset: number): number {
    const low = (values[offset] as number) | ((values[offset + 1] as number) << 8);
    if (this.#identityBytes === 2) return low;
    return (low | ((values[offset + 2] as number) << 16) | ((values[offset + 3] as number) << 24)) >>> 0;
  }

  encryptKey(values: Uint8Array, offset: number): number {
    return this.#encryptKey < 0 ? 0 : (values[offset + this.#encryptKey] as number);
  }

  flags(values: Uint8Array, offset: number): number {
    return this.#flags < 0 ? 0 : (values[offset + this.#flags] as number);
  }

  /** Whether the datapath sees a tunnel, as hasTunnel() of remote-endpoint-info.ts decides it. */
  hasTunnel(values: Uint8Array, offset: number): boolean {
    if (this.#hasTunnelFlag) return (this.flags(values, offset) & FLAG.hastunnel) !== 0;
    for (let i = 0; i < this.#tunnelBytes; i++) if (values[offset + this.#tunnel + i] !== 0) return true;
    return false;
  }

  /** Writes the tunnel endpoint as tunnelText() prints it; only where {@link hasTunnel}. */
  putTunnel(out: Uint8Array, at: number, values: Uint8Array, offset: number): number {
    if (this.#tunnel < 0) return putIPv4(out, at, NO_TUNNEL, 0);
    const ipv6 = this.#tunnelBytes === 16 && (this.flags(values, offset) & FLAG.ipv6tunnel) !== 0;
    return ipv6 ? putIPv6(out, at, values, offset + this.#tunnel) : putIPv4(out, at, values, offset + this.#tunnel);
  }
}

const NO_TUNNEL = new Uint8Array(4);

/** For every flags byte its names through `render`, as bytes. */
export function flagTexts(layout: Layout, render: (names: readonly string[]) => string): readonly Uint8Array[] {
  return Array.from({ length: 256 }, (_, flags) => bytesOf(render(flagNames(flags, layout.value.knownFlags))));
}
