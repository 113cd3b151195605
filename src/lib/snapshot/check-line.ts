/** Lines of a snapshot as values, checked against the published schema and against themselves. */
import fileSchema from '../../../schemas/snapshot-file.json' with { type: 'json' };
import { scopeOf } from '../identity/numeric-identity.ts';
import { parseFlag } from '../ipcache/flags.ts';
import { parseAddress } from '../net/address.ts';
import type { SchemaDocument } from '../schema/json-schema.ts';
import { compileSchema, type Validator, type Violation } from '../schema/validator.ts';
import type { EntryRow } from './entry-row.ts';
import { parseStoredPrefix } from './stored-prefix.ts';

export type LineKind = 'header' | 'identity' | 'entry' | 'end';

const validators = new Map<LineKind, Validator>();

/** @returns what is wrong with a parsed line of that kind; undefined when nothing is */
export function checkLine(kind: LineKind, value: unknown): Violation | undefined {
  let check = validators.get(kind);
  if (check === undefined) {
    const { $defs } = fileSchema as SchemaDocument;
    check = compileSchema({ $ref: `#/$defs/${kind}`, ...($defs && { $defs }) });
    validators.set(kind, check);
  }
  return check(value);
}

/** An entry line that satisfies the schema. */
interface EntryLine {
  readonly prefix: string;
  readonly clusterId?: number;
  readonly family: string;
  readonly identity: number;
  readonly scope: string;
  readonly tunnelEndpoint?: string;
  readonly encryptKey: number;
  readonly flags: readonly string[];
  readonly warnings?: readonly string[];
  readonly key?: string;
  readonly value?: string;
}

/**
 * Fills the row from a parsed entry line.
 * @returns what is wrong with the line; the row is then of no use
 */
export function readEntryLine(value: unknown, row: EntryRow): Violation | undefined {
  const violation = checkLine('entry', value);
  if (violation !== undefined) return violation;
  const line = value as EntryLine;
  if (line.prefix.startsWith('0x')) row.setRawKey(line.prefix);
  else {
    const prefix = parseStoredPrefix(line.prefix);
    if (prefix === undefined) return { field: 'prefix', problem: 'is not a canonical prefix' };
    if (prefix.family !== line.family) return { field: 'family', problem: `is not that of ${line.prefix}` };
    if (prefix.clusterId !== (line.clusterId ?? 0)) {
      return { field: 'clusterId', problem: `is not that of ${line.prefix}` };
    }
    row.setPrefix(prefix.family, prefix.clusterId, prefix.address, prefix.length);
  }
  if (line.scope !== scopeOf(line.identity)) return { field: 'scope', problem: `is not that of ${line.identity}` };
  row.identity = line.identity;
  row.encryptKey = line.encryptKey;
  row.flags = line.flags.reduce((bits, name) => bits | parseFlag(name), 0);
  row.extra = extraOf(line);
  return readTunnel(line.tunnelEndpoint, row);
}

function readTunnel(text: string | undefined, row: EntryRow): Violation | undefined {
  row.tunnelBytes = 0;
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  if (address === undefined) return { field: 'tunnelEndpoint', problem: 'is not an address' };
  row.tunnel.set(address);
  row.tunnelBytes = address.length === 4 ? 4 : 16;
  return undefined;
}

function extraOf({ warnings, key, value }: EntryLine): string {
  return warnings === undefined && key === undefined && value === undefined
    ? ''
    : JSON.stringify({ warnings, key, value });
}
