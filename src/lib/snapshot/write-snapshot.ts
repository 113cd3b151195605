/** A snapshot as bytes, from its parts: the end line is made here, so that it always fits what came before it. */
import { createHash } from 'node:crypto';
import { countLines } from './count-lines.ts';
import {
  formatEnd,
  formatHeader,
  formatIdentity,
  type SnapshotEnd,
  type SnapshotHeader,
  type SnapshotIdentity,
} from './lines.ts';

/** Takes bytes that are only valid until it is done. */
export type WriteBytes = (bytes: Uint8Array) => void | Promise<void>;

export interface SnapshotContent {
  readonly header: SnapshotHeader;
  /** By number. */
  readonly identities: Iterable<SnapshotIdentity>;
  /** Pieces of whole entry lines in the order of the file; each is valid until the next is asked for. */
  readonly entries: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Whether the walk covered the map; asked after the last entry. */
  readonly complete: () => boolean;
}

/** Identity lines are gathered up to this many bytes. */
const PIECE_BYTES = 1 << 18;

/** Writes all of it. @returns the end line */
export async function writeSnapshot(content: SnapshotContent, write: WriteBytes): Promise<SnapshotEnd> {
  const hash = createHash('sha256');
  const put = (bytes: Uint8Array): void | Promise<void> => {
    hash.update(bytes);
    return write(bytes);
  };
  await put(Buffer.from(`${formatHeader(content.header)}\n`));
  let identities = 0;
  let text = '';
  for (const identity of content.identities) {
    identities++;
    text += `${formatIdentity(identity)}\n`;
    if (text.length < PIECE_BYTES) continue;
    await put(Buffer.from(text));
    text = '';
  }
  await put(Buffer.from(text));
  let entries = 0;
  for await (const piece of content.entries) {
    entries += countLines(piece);
    await put(piece);
  }
  const end = { identities, entries, complete: content.complete(), sha256: hash.digest('hex') };
  await write(Buffer.from(`${formatEnd(end)}\n`));
  return end;
}
