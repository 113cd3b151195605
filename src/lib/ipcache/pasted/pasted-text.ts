/** Bytes in plain text: bare digits, or `bpftool map dump` output and `bpftool map update` commands with their words. */
import { readHexWords } from './hex-words.ts';
import {
  checkedEntry,
  entryOfBytes,
  type PastedEntry,
  type PasteOrigin,
  pasteError,
  sizeState,
} from './pasted-entry.ts';

/** Words that name what follows, and at the start of a line everything before `key hex` in a command. */
const MARKER = /\b(?:next\s+)?(key|value)\b:?/g;
const COMMAND = /^.*?\bmap\s+(?:update|lookup|delete|getnext)\b.*?(?=\bkey\b)/;
const AFTER_COMMAND = /\b(?:any|exist|noexist)\s*$/;
const COUNT = /^Found \d+ elements?$/;

interface Piece {
  readonly part: 'key' | 'value' | undefined;
  readonly text: string;
  readonly line: number;
}

/** @throws {ToolError} naming the line, for anything that is not an entry. */
export function readPastedText(text: string, origin: PasteOrigin): PastedEntry[] {
  const pieces = cut(text);
  if (pieces.some(({ part }) => part !== undefined)) return readMarked(pieces, origin);
  return readBare(pieces, origin);
}

function cut(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const command = raw.replace(COMMAND, '');
    const line = (command === raw ? raw : command.replace(AFTER_COMMAND, '')).trim();
    if (line === '' || COUNT.test(line)) continue;
    let part: Piece['part'];
    let start = 0;
    const push = (end: number) => {
      const words = line.slice(start, end).replace(/^\s*hex\b/, '');
      if (part !== undefined || /\w/.test(words)) pieces.push({ part, text: words, line: index + 1 });
    };
    for (const match of line.matchAll(MARKER)) {
      push(match.index);
      part = match[1] === 'key' ? 'key' : 'value';
      start = match.index + match[0].length;
    }
    push(line.length);
  }
  return pieces;
}

/** Bytes without a word go to the part before them; a key begins an entry, and so does a value that has none. */
function readMarked(pieces: readonly Piece[], origin: PasteOrigin): PastedEntry[] {
  const entries: PastedEntry[] = [];
  let open: { key?: Uint8Array; value?: Uint8Array; line: number } | undefined;
  let part: 'key' | 'value' | undefined;
  const close = () => {
    if (open === undefined) return;
    const { line, ...entry } = open;
    entries.push(checkedEntry(entry, origin, line));
  };
  for (const piece of pieces) {
    const bytes = bytesOf(piece, origin);
    part = piece.part ?? part;
    if (part === undefined) throw pasteError(origin, piece.line, 'bytes stand before the first "key" or "value"');
    if (open === undefined || piece.part === 'key' || (piece.part === 'value' && open.value !== undefined)) {
      close();
      open = { line: piece.line };
    }
    open[part] = Buffer.concat([open[part] ?? new Uint8Array(), bytes]);
  }
  close();
  return entries;
}

/** Every line an entry, or else all lines together one. */
function readBare(pieces: readonly Piece[], origin: PasteOrigin): PastedEntry[] {
  const lines = pieces.map((piece) => bytesOf(piece, origin));
  const each = lines.map(entryOfBytes);
  const bad = each.indexOf(undefined);
  if (bad < 0) return each.filter((entry) => entry !== undefined);
  const together = entryOfBytes(Buffer.concat(lines));
  if (together !== undefined) return [together];
  throw pasteError(origin, pieces[bad]?.line ?? 1, sizeState(lines[bad] ?? new Uint8Array()));
}

function bytesOf({ text, line }: Piece, origin: PasteOrigin): Uint8Array {
  const bytes = readHexWords(text);
  if (typeof bytes === 'string') throw pasteError(origin, line, bytes);
  return bytes;
}
