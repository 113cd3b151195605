/**
 * The flags byte of a value as names. Bits that a layout gives no meaning to stay together as one hexadecimal word
 * (`0xf0`), so that they are seen and survive being written again.
 */
import { UsageError } from '../errors.ts';
import { FLAG } from './layout.ts';

const NAMED: readonly (readonly [string, number])[] = Object.entries(FLAG);

const namesByMask = new Map<number, (readonly string[])[]>();

/** Names of the set bits in bit order, then the unknown rest as one `0x…` word. @param knownFlags of the layout. */
export function flagNames(flags: number, knownFlags: number = 0x0f): readonly string[] {
  let table = namesByMask.get(knownFlags);
  if (table === undefined) {
    table = Array.from({ length: 256 }, (_, byte) => namesOf(byte, knownFlags));
    namesByMask.set(knownFlags, table);
  }
  return table[flags & 0xff] ?? [];
}

/**
 * Reads one flag: a name as printed, or a number from 0 to 255 in decimal or `0x` form for bits without a name.
 * @returns the bits. @throws {UsageError} code BAD_FLAG with the list of names.
 */
export function parseFlag(text: string): number {
  for (const [name, bit] of NAMED) if (name === text) return bit;
  const value = /^(0x[0-9a-fA-F]{1,2}|0|[1-9][0-9]{0,2})$/.test(text) ? Number(text) : 256;
  if (value < 256) return value;
  throw new UsageError(`Cannot read flag ${JSON.stringify(text)}: it is neither a name nor a number from 0 to 0xff`, {
    code: 'BAD_FLAG',
    hint: `names are ${NAMED.map(([name]) => name).join(', ')}`,
  });
}

function namesOf(byte: number, knownFlags: number): readonly string[] {
  const known = byte & knownFlags;
  const names = NAMED.filter(([, bit]) => (known & bit) !== 0).map(([name]) => name);
  const rest = byte & ~knownFlags;
  return rest === 0 ? names : [...names, `0x${rest.toString(16)}`];
}
