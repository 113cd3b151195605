import { type PastedEntry, type PasteOrigin, pasteError } from './pasted-entry.ts';
import { readPastedJson } from './pasted-json.ts';
import { readPastedText } from './pasted-text.ts';

/**
 * Reads key and value bytes in any shape that Cilium's and the kernel's tools print, and ours.
 * @returns empty only for an empty JSON list, the dump of an empty map.
 * @throws {ToolError} as its origin demands: usage for arguments, malformed for input.
 */
export function readPasted(text: string, origin: PasteOrigin): PastedEntry[] {
  if (/^\s*[[{]/.test(text)) return readPastedJson(text, origin);
  const entries = readPastedText(text, origin);
  if (entries.length === 0) throw pasteError(origin, 1, 'there are no bytes');
  return entries;
}
