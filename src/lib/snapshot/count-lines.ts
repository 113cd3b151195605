const NEWLINE = 10;

/** How many newlines there are. */
export function countLines(block: Uint8Array): number {
  let lines = 0;
  for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** How often a word stands in a block. */
export function countOf(block: Uint8Array, word: Uint8Array): number {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.length);
  let count = 0;
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + word.length)) count++;
  return count;
}
