const NEWLINE = 10;

/** How many newlines there are. */
export function countLines(block: Uint8Array): number {
  let lines = 0;
  for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
