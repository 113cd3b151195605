/** Makes the bytes of an entry, and refuses where the layouts a map may have would not agree on them. */
import { AmbiguousError, LayoutError } from '../errors.ts';
import { formatPrefix, type Prefix } from '../net/prefix.ts';
import type { LayoutChoice } from './choose-layout.ts';
import { encodeKey } from './key.ts';
import type { Layout } from './layout.ts';
import { encodeValue, newRemoteEndpointInfo, type RemoteEndpoint } from './remote-endpoint-info.ts';

export interface EncodedEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Encodes a new entry. The tunnel flags follow from the tunnel; all other parts are written as given.
 * @throws {LayoutError} when the layout has no place for a part that is not zero.
 * @throws {AmbiguousError} when the map's layout is not certain and another candidate would place a part elsewhere.
 */
export function encodeEntry(
  choice: Pick<LayoutChoice, 'layout' | 'candidates'>,
  prefix: Prefix,
  endpoint: RemoteEndpoint,
): EncodedEntry {
  const encoded = encodeIn(choice.layout, prefix, endpoint);
  const others = choice.candidates.filter((candidate) => candidate !== choice.layout);
  const other = others.find((candidate) => !agrees(candidate, encoded, prefix, endpoint));
  if (other === undefined) return encoded;
  throw new AmbiguousError(
    `Cannot encode ${formatPrefix(prefix)}: the map may have layout ${choice.layout.name} or ${other.name}, ` +
      'which place this entry differently',
    {
      code: 'LAYOUT_AMBIGUOUS',
      hint: `name the layout with --layout ${choice.candidates.map((candidate) => candidate.name).join(', ')}`,
      operands: { prefix: formatPrefix(prefix) },
    },
  );
}

function encodeIn(layout: Layout, prefix: Prefix, endpoint: RemoteEndpoint): EncodedEntry {
  return {
    key: encodeKey(layout, prefix),
    value: encodeValue(layout, newRemoteEndpointInfo(layout, endpoint)),
  };
}

function agrees(layout: Layout, encoded: EncodedEntry, prefix: Prefix, endpoint: RemoteEndpoint): boolean {
  let other: EncodedEntry;
  try {
    other = encodeIn(layout, prefix, endpoint);
  } catch (error) {
    if (error instanceof LayoutError) return false;
    throw error;
  }
  return Buffer.compare(other.key, encoded.key) === 0 && Buffer.compare(other.value, encoded.value) === 0;
}
