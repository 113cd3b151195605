/**
 * Reads `checkpoint.json` without a lock: it is replaced in one step, so what is read is one generation.
 * Damaged or newer files are reported and never touched.
 */
import { readFileSync } from 'node:fs';
import checkpointSchema from '../../../schemas/checkpoint.json' with { type: 'json' };
import { MalformedError, ToolError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';
import { formatPrefix, parsePrefix } from '../net/prefix.ts';
import type { SchemaDocument } from '../schema/json-schema.ts';
import { parseJsonDocument, requireShape, shapeError } from '../schema/read-json.ts';
import { compileSchema, type Validator } from '../schema/validator.ts';
import type { StateCheckpoint } from './checkpoint.ts';
import { CHECKPOINT_SCHEMA_VERSION } from './checkpoint-text.ts';
import { statePaths } from './paths.ts';

let validator: Validator | undefined;

/**
 * @returns undefined when there is no checkpoint (or no state directory) yet
 * @throws {MalformedError} damaged, with `file`, `offset` and `field`; or code NEWER_SCHEMA
 * @throws {NotPermittedError}
 */
export function readCheckpoint(directory: string): StateCheckpoint | undefined {
  const { checkpoint } = statePaths(directory);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(checkpoint);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw fileError('read', checkpoint, cause);
  }
  return decodeCheckpoint(bytes, checkpoint);
}

/**
 * Bytes of a checkpoint, with every prefix made canonical.
 * @param file its name, for messages
 * @throws {MalformedError} as `readCheckpoint`
 */
export function decodeCheckpoint(bytes: Uint8Array, file: string): StateCheckpoint {
  const hint = `it is left as it is; move it away to start anew, or put ${file}.previous in its place`;
  const value = parseJsonDocument(bytes, file, hint);
  requireKnownVersion(value, file);
  validator ??= compileSchema(checkpointSchema as SchemaDocument);
  requireShape(value, validator, bytes, file, hint);
  const { schemaVersion: _, kind: __, ...state } = value as Parsed;
  const fail = (field: string, problem: string): never => {
    throw shapeError({ field, problem }, bytes, file, hint);
  };
  const canonical = (text: string, field: () => string): string => {
    try {
      const made = formatPrefix(parsePrefix(text));
      return made === text ? text : made;
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return fail(field(), `is no prefix: ${cause.message}`);
    }
  };
  const makeCanonical = (name: string, records: { prefix: string }[]): void => {
    for (const [i, record] of records.entries()) {
      record.prefix = canonical(record.prefix, () => `${name}[${i}].prefix`);
    }
  };
  const numbers = new Set<number>();
  for (const [i, { identity, prefixes }] of state.identities.entries()) {
    if (numbers.size === numbers.add(identity).size) fail(`identities[${i}].identity`, `repeats ${identity}`);
    for (const [j, text] of prefixes.entries()) {
      prefixes[j] = canonical(text, () => `identities[${i}].prefixes[${j}]`);
    }
  }
  for (const [i, text] of state.ingress.entries()) state.ingress[i] = canonical(text, () => `ingress[${i}]`);
  makeCanonical('placeholders', state.placeholders);
  makeCanonical('pending', state.pending);
  return state;
}

/** What was parsed just now and nobody else has, to be made canonical in place: there may be a million records. */
type Fresh<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] | undefined ? Fresh<U>[] : T[K] };
type Parsed = Fresh<StateCheckpoint> & { schemaVersion: 1; kind: string };

function requireKnownVersion(value: unknown, file: string): void {
  if (typeof value !== 'object' || value === null || !('schemaVersion' in value)) return;
  const { schemaVersion } = value;
  if (typeof schemaVersion !== 'number' || !Number.isInteger(schemaVersion)) return;
  if (schemaVersion <= CHECKPOINT_SCHEMA_VERSION) return;
  throw new MalformedError(
    `Cannot read ${file}: schemaVersion ${schemaVersion} is newer than ${CHECKPOINT_SCHEMA_VERSION}, the newest that this ipc knows`,
    {
      code: 'NEWER_SCHEMA',
      hint: 'it is left as it is; use the ipc that wrote it, or another --state-dir',
      operands: { file, field: 'schemaVersion' },
    },
  );
}
