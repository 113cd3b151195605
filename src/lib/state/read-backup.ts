/** Reads a backup whole, for whoever takes a change back. */
import { readFileSync } from 'node:fs';
import backupSchema from '../../../schemas/backup.json' with { type: 'json' };
import { MalformedError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import type { SchemaDocument } from '../schema/json-schema.ts';
import { compileSchema, type Validator, type Violation } from '../schema/validator.ts';
import type { BackupEntry, BackupHeader } from './backup.ts';

export interface Backup {
  readonly header: BackupHeader;
  readonly entries: readonly BackupEntry[];
}

interface EntryLine extends Omit<BackupEntry, 'key' | 'before' | 'after'> {
  readonly key: string;
  readonly before?: string;
  readonly after?: string;
}

/**
 * @throws {MalformedError} with `file`, `line` and `field`; a backup without its end line is cut off
 * @throws {NotFoundError}
 * @throws {NotPermittedError}
 */
export function readBackup(file: string): Backup {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw fileError('read', file, cause);
  }
  const lines = text.split('\n');
  const header = parseLine('header', lines[0] ?? '', file, 1) as BackupHeader;
  const entries: BackupEntry[] = [];
  for (let i = 1; i < lines.length; i++) {
    const here = lines[i] ?? '';
    if (!here.startsWith('{"end"')) {
      if (here === '') break;
      entries.push(decodeEntry(parseLine('entry', here, file, i + 1) as EntryLine));
      continue;
    }
    const end = parseLine('end', here, file, i + 1) as { readonly entries: number };
    if (end.entries === entries.length) return { header, entries };
    throw damaged(file, i + 1, {
      field: 'entries',
      problem: `is not ${entries.length}, the number of lines before it`,
    });
  }
  throw new MalformedError(`Cannot read ${file}: it is cut off after line ${lines.length - 1}`, {
    operands: { file, line: lines.length - 1 },
  });
}

const validators = new Map<string, Validator>();

function parseLine(kind: 'header' | 'entry' | 'end', text: string, file: string, line: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(file, line, { field: '', problem: 'is not JSON' });
  }
  let check = validators.get(kind);
  if (check === undefined) {
    const { $defs } = backupSchema as SchemaDocument;
    check = compileSchema({ $ref: `#/$defs/${kind}`, ...($defs && { $defs }) });
    validators.set(kind, check);
  }
  const violation = check(value);
  if (violation !== undefined) throw damaged(file, line, violation);
  return value;
}

function damaged(file: string, line: number, { field, problem }: Violation): MalformedError {
  const subject = field === '' ? `line ${line}` : `field ${field} in line ${line}`;
  return new MalformedError(`Cannot read ${file}: ${subject} ${problem}`, {
    operands: { file, line, ...(field === '' ? {} : { field }) },
  });
}

function decodeEntry({ key, before, after, ...words }: EntryLine): BackupEntry {
  return {
    ...words,
    key: Buffer.from(key, 'hex'),
    ...(before === undefined ? {} : { before: Buffer.from(before, 'hex') }),
    ...(after === undefined ? {} : { after: Buffer.from(after, 'hex') }),
  };
}
