/** The words for a snapshot that cannot be trusted; every one names the file, and the line and field where there is one. */
import { MalformedError } from '../errors.ts';

const HINT = 'take the snapshot again, or use an older one; the file is left as it is';

/** What is wrong with one line; `field` is empty when the line as a whole is meant. Lines count from 1. */
export function badLine(file: string, line: number, field: string, problem: string): MalformedError {
  const subject = field === '' ? `line ${line}` : `field ${field} of line ${line}`;
  return new MalformedError(`Cannot read snapshot ${file}: ${subject} ${problem}`, {
    code: 'SNAPSHOT_DAMAGED',
    hint: HINT,
    operands: { file, line, ...(field !== '' && { field }) },
  });
}

/** The end line never came. @param line the last whole line */
export function cutOff(file: string, line: number): MalformedError {
  const state = line === 0 ? 'it is empty' : `it is cut off after line ${line}, the end line is missing`;
  return new MalformedError(`Cannot read snapshot ${file}: ${state}`, {
    code: 'SNAPSHOT_CUT_OFF',
    hint: HINT,
    operands: { file, ...(line > 0 && { line }) },
  });
}

/** Every line is sound by itself, yet the file is not what was written. */
export function wrongSum(file: string): MalformedError {
  return new MalformedError(`Cannot read snapshot ${file}: its content does not have the sha256 of its end line`, {
    code: 'SNAPSHOT_DAMAGED',
    hint: HINT,
    operands: { file, field: 'sha256' },
  });
}

/** Something else than a snapshot. */
export function notSnapshot(file: string): MalformedError {
  return new MalformedError(`Cannot read snapshot ${file}: line 1 is not the header of an ipcache snapshot`, {
    code: 'NOT_A_SNAPSHOT',
    hint: 'make one with ipc snapshot FILE',
    operands: { file, line: 1 },
  });
}

/** Written by a newer ipc. */
export function newerSnapshot(file: string, found: number, known: number): MalformedError {
  return new MalformedError(`Cannot read snapshot ${file}: its schemaVersion ${found} is newer than ${known}`, {
    code: 'NEWER_SCHEMA',
    hint: 'read it with the ipc that wrote it, or a newer one; the file is left as it is',
    operands: { file, line: 1, field: 'schemaVersion' },
  });
}
