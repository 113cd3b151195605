/** One identity of `local_allocator_state.json`, read as the agent's own reader does (json-iterator, Cilium 1.21). */
import type { IdentityRecord } from './caching-allocator.ts';
import { CLOSE_OBJECT, COLON, COMMA, type JsonCursor, JsonFault, OPEN_OBJECT, QUOTE } from './json-cursor.ts';
import { type Label, parseLabel } from './label.ts';
import { type LabelEntry, Labels } from './labels.ts';
import { MAX_IDENTITY, numericIdentity } from './numeric-identity.ts';

export interface RecordOptions {
  /** For comparing with upstream, whose reader lets many numbers beyond 32 bits wrap around. */
  readonly strictUpstream?: boolean;
}

/** Where the reader is, for messages: `labels["10.0.0.0/8"].source`. */
export type FieldPath = { field: string };

/**
 * Reads the object at the cursor. Field names in any case; other fields are passed over; of two ids the last wins, two
 * sets of labels are merged; what is missing is 0 or empty.
 * @throws {JsonFault}
 */
export function readRecord(cursor: JsonCursor, path: FieldPath, options: RecordOptions = {}): IdentityRecord {
  let id = 0;
  let entries: LabelEntry[] = [];
  cursor.expect(OPEN_OBJECT);
  for (let more = !cursor.take(CLOSE_OBJECT); more; more = endOfMember(cursor)) {
    path.field = '';
    const name = asciiLower(cursor.text(false));
    cursor.expect(COLON);
    path.field = name;
    if (name === 'id') id = cursor.takeNull() ? id : readId(cursor, options);
    else if (name === 'labels') {
      if (cursor.takeNull()) entries = [];
      else readLabels(cursor, entries, path);
    } else cursor.skipValue(false);
  }
  path.field = '';
  return { id: numericIdentity(id), labels: Labels.fromEntries(entries).compact() };
}

/** After a member of an object. @returns whether another one follows */
export function endOfMember(cursor: JsonCursor): boolean {
  if (cursor.take(COMMA)) return true;
  cursor.expect(CLOSE_OBJECT);
  return false;
}

function readId(cursor: JsonCursor, { strictUpstream = false }: RecordOptions): number {
  cursor.peek();
  const begin = cursor.at;
  let value = 0;
  for (;;) {
    const digit = (cursor.bytes[cursor.at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    cursor.at++;
    value = value * 10 + digit;
    // A zero is a whole number to this reader, so `01` is `0` followed by something odd.
    if (value === 0) break;
    if (value <= MAX_IDENTITY) continue;
    const wrapped = value >>> 0;
    if (!strictUpstream || wrapped < (value - digit) / 10)
      throw new JsonFault('the number is larger than 32 bits', begin);
    value = wrapped;
  }
  if (cursor.at === begin) throw cursor.fault('expected an unsigned number');
  if (cursor.bytes[cursor.at] === 0x2e) throw new JsonFault('the number is not a whole one', begin);
  return value;
}

function readLabels(cursor: JsonCursor, entries: LabelEntry[], path: FieldPath): void {
  if (!cursor.take(OPEN_OBJECT)) throw cursor.fault('expected an object of labels');
  for (let more = !cursor.take(CLOSE_OBJECT); more; more = endOfMember(cursor)) {
    const mapKey = cursor.takeNull() ? '' : cursor.text(false);
    path.field = `labels[${JSON.stringify(mapKey)}]`;
    cursor.expect(COLON);
    entries.push({ mapKey, label: readLabel(cursor) });
    path.field = 'labels';
  }
}

function readLabel(cursor: JsonCursor): Label {
  const byte = cursor.peek();
  const begin = cursor.at;
  if (byte === QUOTE) {
    const text = cursor.text(true);
    if (text === '') throw new JsonFault('the text of a label is empty', begin);
    return parseLabel(text);
  }
  if (cursor.takeNull()) throw new JsonFault('a label has no key', begin);
  if (byte !== OPEN_OBJECT) throw cursor.fault('expected a label, as an object or a text');
  return readLabelObject(cursor, begin);
}

function readLabelObject(cursor: JsonCursor, begin: number): Label {
  let source = '';
  let key = '';
  let value = '';
  cursor.at++;
  for (let more = !cursor.take(CLOSE_OBJECT); more; more = endOfMember(cursor)) {
    const name = foldName(cursor.text(true));
    cursor.expect(COLON);
    if (name !== 'key' && name !== 'source' && name !== 'value') cursor.skipValue(true);
    else if (!cursor.takeNull()) {
      if (cursor.peek() !== QUOTE) throw cursor.fault(`expected a text as the ${name} of a label`);
      const text = cursor.text(true);
      if (name === 'key') key = text;
      else if (name === 'source') source = text;
      else value = text;
    }
  }
  if (key === '') throw new JsonFault('a label has no key', begin);
  return { source, key, value };
}

function asciiLower(name: string): string {
  return /[A-Z]/.test(name) ? name.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()) : name;
}

/** Go's encoding/json folds the Kelvin sign and the long s too. */
function foldName(name: string): string {
  return name === 'key' || name === 'source' ? name : name.toLowerCase().replaceAll('\u017f', 's');
}
