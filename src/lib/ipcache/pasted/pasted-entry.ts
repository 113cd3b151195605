/** Key and value bytes as people paste them, and the refusal of what is neither. */
import { MalformedError, type ToolError, UsageError } from '../../errors.ts';
import { KEY_BYTES, LAYOUTS } from '../layout.ts';

export interface PastedEntry {
  /** 24 bytes. */
  readonly key?: Uint8Array;
  /** 8, 12 or 24 bytes. */
  readonly value?: Uint8Array;
  /** 24 bytes without a word before them: taken for a key, but they might be a value. */
  readonly guessed?: true;
}

/** Where pasted text came from: a bad command line is a usage error, a bad file or stream is malformed input. */
export type PasteOrigin = { readonly from: 'argument' } | { readonly from: 'file'; readonly file: string };

export const VALUE_SIZES: readonly number[] = [...new Set(LAYOUTS.map((layout) => layout.value.bytes))];

const SIZES = 'a key has 24 bytes, a value 8, 12 or 24';

/** @param line counted from 1; left out of the message for arguments. */
export function pasteError(origin: PasteOrigin, line: number, state: string): ToolError {
  const hint = 'paste hexadecimal bytes (40 00 …, 0x40 …), bpftool map dump output or bpftool -j output';
  if (origin.from === 'argument') {
    return new UsageError(`Cannot decode the bytes given: ${state}`, { code: 'BAD_HEX', hint });
  }
  return new MalformedError(`Cannot decode ${origin.file}, line ${line}: ${state}`, {
    code: 'BAD_HEX',
    hint,
    operands: { file: origin.file, line },
  });
}

/** What bytes without a word before them are, by their number alone; 24 bytes are a key. */
export function entryOfBytes(bytes: Uint8Array): PastedEntry | undefined {
  if (bytes.length === KEY_BYTES) return { key: bytes, guessed: true };
  if (VALUE_SIZES.includes(bytes.length)) return { value: bytes };
  if (VALUE_SIZES.includes(bytes.length - KEY_BYTES)) {
    return { key: bytes.subarray(0, KEY_BYTES), value: bytes.subarray(KEY_BYTES) };
  }
  return undefined;
}

/** @throws {ToolError} when a part has a size that it never has. */
export function checkedEntry(entry: PastedEntry, origin: PasteOrigin, line: number): PastedEntry {
  const { key, value } = entry;
  if (key !== undefined && key.length !== KEY_BYTES) {
    throw pasteError(origin, line, `the key has ${countOf(key)}, but ${SIZES}`);
  }
  if (value !== undefined && !VALUE_SIZES.includes(value.length)) {
    throw pasteError(origin, line, `the value has ${countOf(value)}, but ${SIZES}`);
  }
  return entry;
}

export function sizeState(bytes: Uint8Array): string {
  return `${countOf(bytes)} are neither a key, a value nor both: ${SIZES}`;
}

function countOf(bytes: Uint8Array): string {
  return bytes.length === 1 ? '1 byte' : `${bytes.length} bytes`;
}
