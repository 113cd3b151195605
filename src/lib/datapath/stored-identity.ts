import type { Layout } from '../ipcache/layout.ts';

/** The identity in a value, without decoding the rest. */
export function identityOf({ value: { identity } }: Layout, values: Uint8Array, offset = 0): number {
  const at = offset + identity.offset;
  const low = (values[at] as number) | ((values[at + 1] as number) << 8);
  if (identity.bytes === 2) return low;
  return (low | ((values[at + 2] as number) << 16) | ((values[at + 3] as number) << 24)) >>> 0;
}
