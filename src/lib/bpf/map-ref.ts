/** How a map is named on the command line and in the config file: one grammar, parsed here only. */
import { UsageError } from '../errors.ts';
import { isBelowBpffs } from './statfs.ts';

export type MapRef =
  | { readonly kind: 'pin'; readonly path: string }
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'datapath' }
  /** A path that is not on a bpf filesystem, or `-`: a snapshot where one is welcome. */
  | { readonly kind: 'file'; readonly path: string };

const MAX_ID = 0xffff_ffff;

/**
 * Reads `id:N`, `name:NAME`, `datapath` or a path; a path on bpffs is a pin, whether or not something is pinned there.
 * @param isOnBpffs asks the file system; tests bring their own.
 * @throws {UsageError} BAD_MAP_REF
 */
export function parseMapRef(text: string, isOnBpffs: (path: string) => boolean = isBelowBpffs): MapRef {
  if (text === '') throw bad(text, 'it is empty');
  if (text === 'datapath') return { kind: 'datapath' };
  if (text.startsWith('id:')) return { kind: 'id', id: parseId(text) };
  if (text.startsWith('name:')) {
    if (text.length === 'name:'.length) throw bad(text, 'a name must follow');
    return { kind: 'name', name: text.slice('name:'.length) };
  }
  if (text.includes('\0')) throw bad(text.replaceAll('\0', '\\0'), 'a path cannot have a NUL in it');
  return { kind: text !== '-' && isOnBpffs(text) ? 'pin' : 'file', path: text };
}

/** The text that parses to the reference. */
export function formatMapRef(ref: MapRef): string {
  switch (ref.kind) {
    case 'pin':
    case 'file':
      return ref.path;
    case 'id':
      return `id:${ref.id}`;
    case 'name':
      return `name:${ref.name}`;
    case 'datapath':
      return 'datapath';
  }
}

function parseId(text: string): number {
  const digits = text.slice('id:'.length);
  const id = Number(digits);
  if (!/^[0-9]+$/.test(digits) || id === 0 || id > MAX_ID) {
    throw bad(text, `an id is a number from 1 to ${MAX_ID}`);
  }
  return id;
}

function bad(text: string, state: string): UsageError {
  return new UsageError(`Cannot use '${text}' as a map: ${state}`, {
    code: 'BAD_MAP_REF',
    hint: 'a path on bpffs, id:N, name:NAME or datapath',
  });
}
