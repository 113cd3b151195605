/** The one way in which a stored JSON file becomes a value: every defect is named by file, byte offset and field. */
import { isUtf8 } from 'node:buffer';
import { MalformedError } from '../errors.ts';
import { findField, findSyntaxError } from './json-position.ts';
import type { Validator, Violation } from './validator.ts';

/**
 * Reads a whole JSON document.
 * @param file its name, for the message
 * @param hint what to do when it is damaged
 * @throws {MalformedError} with `file`, `offset` and, for a value of the wrong shape, `field`
 */
export function parseJsonDocument(bytes: Uint8Array, file: string, hint?: string): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  if (!isUtf8(bytes)) {
    const offset = Buffer.from(text).findIndex((byte, at) => byte !== bytes[at]);
    throw new MalformedError(
      `Cannot read ${file}: byte ${offset} is not UTF-8`,
      options(file, offset, undefined, hint),
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    // The scan below finds the place.
  }
  const offset = findSyntaxError(bytes) ?? 0;
  const state =
    bytes.length === 0
      ? 'it is empty'
      : offset === bytes.length
        ? `it is cut off after ${offset} bytes`
        : `byte ${offset} is not JSON`;
  throw new MalformedError(`Cannot read ${file}: ${state}`, options(file, offset, undefined, hint));
}

/**
 * Checks the value that `parseJsonDocument` gave.
 * @throws {MalformedError} with `file`, `offset` and `field`
 */
export function requireShape(value: unknown, check: Validator, bytes: Uint8Array, file: string, hint?: string): void {
  const violation = check(value);
  if (violation !== undefined) throw shapeError(violation, bytes, file, hint);
}

/** The error for a document that is JSON, but whose `field` says something impossible. */
export function shapeError(
  { field, problem }: Violation,
  bytes: Uint8Array,
  file: string,
  hint?: string,
): MalformedError {
  const offset = findField(bytes, field);
  const subject = field === '' ? 'the document' : `field ${field}`;
  return new MalformedError(
    `Cannot read ${file}: ${subject} at byte ${offset} ${problem}`,
    options(file, offset, field, hint),
  );
}

function options(file: string, offset: number, field: string | undefined, hint: string | undefined) {
  const operands = { file, offset, ...(field === undefined ? {} : { field }) };
  return { operands, ...(hint === undefined ? {} : { hint }) };
}
