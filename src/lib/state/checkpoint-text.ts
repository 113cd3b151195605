/**
 * `checkpoint.json` as a run of short texts, one record a line. However large the state is, making one piece takes far
 * less than a millisecond, so the agent loop can write 50 000 identities between two events.
 */
import type { StateCheckpoint, StateIdentity } from './checkpoint.ts';

/** The version this program writes. */
export const CHECKPOINT_SCHEMA_VERSION = 1;

/** A piece is handed out when it has this many characters: about 0.1 ms of work. */
const PIECE_CHARS = 32 * 1024;
/** Prefixes turned into text at once, for an identity that has very many. */
const PREFIXES_AT_ONCE = 512;

/** The pieces, in order, of one JSON document that ends with a newline. */
export function* checkpointText(state: StateCheckpoint): Generator<string> {
  let piece = '';
  for (const text of parts(state)) {
    piece += text;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function* parts(state: StateCheckpoint): Generator<string> {
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
  yield JSON.stringify(head).slice(0, -1);
  yield ',\n"identities":[';
  let separator = '\n';
  for (const identity of state.identities) {
    yield separator;
    yield* identityText(identity);
    separator = ',\n';
  }
  yield ']';
  yield* list('ingress', state.ingress);
  yield* list('placeholders', state.placeholders);
  yield* list('sources', state.sources);
  yield* list('pending', state.pending);
  yield* list('collected', state.collected);
  yield '}\n';
}

function* identityText({ identity, labels, labelsFrom, prefixes }: StateIdentity): Generator<string> {
  yield JSON.stringify({ identity, labels, labelsFrom, prefixes: [] }).slice(0, -2);
  for (let at = 0; at < prefixes.length; at += PREFIXES_AT_ONCE) {
    const some = JSON.stringify(prefixes.slice(at, at + PREFIXES_AT_ONCE)).slice(1, -1);
    yield at === 0 ? some : `,${some}`;
  }
  yield ']}';
}

function* list(name: string, records: readonly unknown[]): Generator<string> {
  yield `,\n"${name}":[`;
  let separator = '\n';
  for (const record of records) {
    yield separator + JSON.stringify(record);
    separator = ',\n';
  }
  yield ']';
}
