/** The list around the records of a checkpoint, and the error for whatever is wrong in it. */
import { MalformedError } from '../errors.ts';
import type { FieldPath } from './checkpoint-record.ts';
import { CLOSE_LIST, COMMA, JsonCursor, JsonFault, OPEN_LIST } from './json-cursor.ts';

/**
 * Calls `visit` with the cursor at each element of the list; it must leave the cursor behind that element.
 * @throws {MalformedError} for what is not a list of objects, and for every JsonFault of `visit`
 */
export function forEachRecord(bytes: Buffer, file: string, visit: (cursor: JsonCursor, path: FieldPath) => void): void {
  const cursor = new JsonCursor(bytes);
  const path: FieldPath = { field: '' };
  let index = -1;
  try {
    if (cursor.takeNull()) return;
    if (!cursor.take(OPEN_LIST)) throw cursor.fault('expected a list of identities');
    if (cursor.take(CLOSE_LIST)) return;
    do {
      index++;
      cursor.peek();
      if (cursor.takeNull()) throw new JsonFault('an identity is null, on which an agent would crash', cursor.at - 4);
      visit(cursor, path);
    } while (cursor.take(COMMA));
    if (!cursor.take(CLOSE_LIST)) throw cursor.fault('expected "," or "]" after an identity');
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw damagedCheckpoint(file, error, index < 0 ? '' : `[${index}]${path.field && `.${path.field}`}`);
  }
}

/** The error of a damaged checkpoint. @param field as `[3].labels["app"]`; empty for the file as a whole */
export function damagedCheckpoint(file: string, fault: JsonFault, field: string): MalformedError {
  const where = `at byte ${fault.offset}${field === '' ? '' : `, in ${field}`}`;
  return new MalformedError(`Cannot read allocator checkpoint ${file}: ${fault.message} (${where})`, {
    code: 'BAD_CHECKPOINT',
    hint: 'the file was left as it is; the agent writes a new one when it next changes an identity',
    operands: { file, offset: fault.offset, ...(field === '' ? {} : { field }) },
  });
}
