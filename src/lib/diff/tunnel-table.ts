/** Tunnel endpoints by small numbers: there are as many as nodes, however many entries point at them. */
import type { EntryRow } from '../snapshot/entry-row.ts';

interface Tunnel {
  readonly bytes: Uint8Array;
  readonly text: string;
}

export class TunnelTable {
  /** By number − 1; number 0 is no tunnel. */
  readonly #tunnels: Tunnel[] = [];
  /** IPv4 as a number, IPv6 as hexadecimal text. */
  readonly #numbers = new Map<number | string, number>();

  numberOf(row: EntryRow): number {
    if (row.tunnelBytes === 0) return 0;
    const { tunnel } = row;
    const [a = 0, b = 0, c = 0, d = 0] = tunnel;
    const key =
      row.tunnelBytes === 4 ? ((a << 24) | (b << 16) | (c << 8) | d) >>> 0 : Buffer.from(tunnel).toString('hex');
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#tunnels.push({ bytes: tunnel.slice(0, row.tunnelBytes), text: row.tunnelText() ?? '' });
    this.#numbers.set(key, number);
    return number;
  }

  /** Undefined for 0. */
  text(number: number): string | undefined {
    return this.#tunnels[number - 1]?.text;
  }

  /** Sets the tunnel of the row. */
  read(number: number, row: EntryRow): void {
    const bytes = this.#tunnels[number - 1]?.bytes;
    row.tunnelBytes = bytes === undefined ? 0 : bytes.length === 4 ? 4 : 16;
    if (bytes !== undefined) row.tunnel.set(bytes);
  }
}
