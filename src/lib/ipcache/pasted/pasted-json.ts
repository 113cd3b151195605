/** Bytes in JSON: `bpftool -j map dump` and `lookup`, the entries that ipc prints with --raw, or a bare array of bytes. */
import { findSyntaxError } from '../../schema/json-position.ts';
import { readHexWords } from './hex-words.ts';
import {
  checkedEntry,
  entryOfBytes,
  type PastedEntry,
  type PasteOrigin,
  pasteError,
  sizeState,
} from './pasted-entry.ts';

/** @throws {ToolError} naming the line for a syntax error, and the element for one of the wrong shape. */
export function readPastedJson(text: string, origin: PasteOrigin): PastedEntry[] {
  return documents(text, origin).flatMap(({ value, line }) => readDocument(value, origin, line));
}

interface Document {
  readonly value: unknown;
  readonly line: number;
}

/** One document, or one on every line. */
function documents(text: string, origin: PasteOrigin): Document[] {
  try {
    return [{ value: JSON.parse(text), line: 1 }];
  } catch {
    // Either a document a line, or damaged.
  }
  const found: Document[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      found.push({ value: JSON.parse(line), line: index + 1 });
    } catch {
      if (found.length > 0) throw pasteError(origin, index + 1, 'it is not JSON');
      throw pasteError(origin, lineOfSyntaxError(text), 'it is not JSON');
    }
  }
  return found;
}

function lineOfSyntaxError(text: string): number {
  const bytes = Buffer.from(text);
  const before = bytes.subarray(0, findSyntaxError(bytes) ?? 0);
  return before.toString().split('\n').length;
}

function readDocument(value: unknown, origin: PasteOrigin, line: number): PastedEntry[] {
  if (isObject(value)) return [entryOf(value, 'it', origin, line)];
  if (!Array.isArray(value)) throw pasteError(origin, line, 'it is neither an array nor an object');
  if (!value.every(isObject)) {
    const bytes = bytesOf(value, 'it', origin, line);
    const entry = entryOfBytes(bytes);
    if (entry === undefined) throw pasteError(origin, line, sizeState(bytes));
    return [entry];
  }
  return value.map((element, index) => entryOf(element, `element ${index + 1}`, origin, line));
}

function entryOf(object: Record<string, unknown>, where: string, origin: PasteOrigin, line: number): PastedEntry {
  const { key, value } = object;
  if (key === undefined && value === undefined) {
    throw pasteError(origin, line, `${where} has neither "key" nor "value"`);
  }
  const entry = {
    ...(key !== undefined && { key: bytesOf(key, `"key" of ${where}`, origin, line) }),
    ...(value !== undefined && { value: bytesOf(value, `"value" of ${where}`, origin, line) }),
  };
  return checkedEntry(entry, origin, line);
}

/** An array of `"0x40"` or 64, or one string of digits. */
function bytesOf(value: unknown, where: string, origin: PasteOrigin, line: number): Uint8Array {
  if (typeof value === 'string') return hexOf(value, where, origin, line);
  if (!Array.isArray(value)) throw pasteError(origin, line, `${where} is not an array of bytes`);
  const words = value.map((element) => {
    if (typeof element === 'string') return element;
    if (Number.isInteger(element) && element >= 0 && element <= 255) return element.toString(16).padStart(2, '0');
    throw pasteError(origin, line, `${where} holds ${JSON.stringify(element)}, which is not a byte`);
  });
  return hexOf(words.join(' '), where, origin, line);
}

function hexOf(text: string, where: string, origin: PasteOrigin, line: number): Uint8Array {
  const bytes = readHexWords(text);
  if (typeof bytes === 'string') throw pasteError(origin, line, `${where}: ${bytes}`);
  return bytes;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
