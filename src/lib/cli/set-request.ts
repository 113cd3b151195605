/** What `ipc set` is asked to do: one entry by words, or a backup. */
import type { SetRequest } from '../change/set-entry.ts';
import { UsageError } from '../errors.ts';
import { parsePrefix } from '../net/prefix.ts';
import { type EndpointFlags, endpointOf } from './endpoint-flags.ts';

export interface SetFlags extends EndpointFlags {
  readonly identity?: number | undefined;
  readonly create: boolean;
  readonly replace: boolean;
  readonly 'expect-identity'?: number | undefined;
  readonly 'from-backup'?: string | undefined;
}

/** @throws {UsageError} */
export function readSetRequest(prefix: string | undefined, flags: SetFlags): SetRequest | { readonly file: string } {
  const { identity } = flags;
  const file = flags['from-backup'];
  if (file !== undefined) {
    if (prefix === undefined && identity === undefined) return { file };
    throw usage('a backup says itself which entries it has', 'leave out the prefix and --identity');
  }
  if (prefix === undefined) throw usage('no prefix is given', 'ipc set PREFIX --identity N', 'MISSING_ARGUMENT');
  if (identity === undefined) throw usage('no identity is given', 'ipc set PREFIX --identity N', 'MISSING_FLAG');
  if (identity === 0) throw usage('identity 0 stands for unknown', 'ipc delete takes an entry away', 'BAD_IDENTITY');
  const must = flags.create ? 'create' : flags.replace ? 'replace' : undefined;
  return {
    prefix: parsePrefix(prefix),
    endpoint: endpointOf(identity, flags),
    must,
    expectIdentity: flags['expect-identity'],
  };
}

function usage(state: string, hint: string, code = 'BAD_VALUE'): UsageError {
  return new UsageError(`Cannot set an entry: ${state}`, { code, hint });
}
