/**
 * `checkpoint.json` as a run of short texts, one record a line. However large the state is, making one piece takes far
 * less than a millisecond, so the agent loop can write 50 000 identities between two events.
 */
import type { IdentityDraft, Placeholder, StateDraft } from './checkpoint.ts';

/** The version this program writes. */
export const CHECKPOINT_SCHEMA_VERSION = 1;

/** A piece is handed out when it has this many characters: about 0.1 ms of work. */
const PIECE_CHARS = 32 * 1024;

/** The pieces, in order, of one JSON document that ends with a newline. */
export function* checkpointText(state: StateDraft & { readonly pin: string }): Generator<string> {
  const { pin, time, bootId, map, writer, restored } = state;
  const head = {
    schemaVersion: CHECKPOINT_SCHEMA_VERSION,
    kind: 'ipc-checkpoint',
    pin,
    time,
    bootId,
    map,
    writer,
    restored,
  };
  let piece = `${JSON.stringify(head).slice(0, -1)},\n"identities":[`;
  let separator = '\n';
  for (const identity of state.identities) {
    piece += separator + identityHead(identity);
    separator = ',\n';
    let comma = '';
    for (const prefix of identity.prefixes) {
      piece += `${comma}"${prefix}"`;
      comma = ',';
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
    }
    piece += ']}';
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  piece += ']';
  for (const { name, records, textOf } of listsOf(state)) {
    piece += `,\n"${name}":[`;
    separator = '\n';
    for (const record of records) {
      piece += separator + textOf(record);
      separator = ',\n';
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
    }
    piece += ']';
  }
  yield `${piece}}\n`;
}

interface RecordList {
  readonly name: string;
  readonly records: Iterable<unknown>;
  readonly textOf: (record: unknown) => string;
}

function listsOf({ ingress, placeholders, sources, pending, collected }: StateDraft): RecordList[] {
  return [
    { name: 'ingress', records: ingress, textOf: JSON.stringify },
    { name: 'placeholders', records: placeholders, textOf: (record) => placeholderText(record as Placeholder) },
    { name: 'sources', records: sources, textOf: JSON.stringify },
    { name: 'pending', records: pending, textOf: JSON.stringify },
    { name: 'collected', records: collected, textOf: JSON.stringify },
  ];
}

/** Up to its prefixes. Prefixes and numbers are what they are in JSON too; only labels and reasons have to be escaped. */
function identityHead({ identity, labels, labelsFrom }: IdentityDraft): string {
  const known = labels === undefined ? '' : `,"labels":${JSON.stringify(labels)}`;
  const from = labelsFrom === undefined ? '' : `,"labelsFrom":"${labelsFrom}"`;
  return `{"identity":${identity}${known}${from},"prefixes":[`;
}

function placeholderText({ prefix, identity, requested, labels, time }: Placeholder): string {
  const isRequested = requested === undefined ? '' : `,"requested":${requested}`;
  const known = labels === undefined ? '' : `,"labels":${JSON.stringify(labels)}`;
  return `{"prefix":"${prefix}","identity":${identity}${isRequested}${known},"time":"${time}"}`;
}
