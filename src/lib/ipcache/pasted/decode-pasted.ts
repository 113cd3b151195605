/** Pasted bytes decoded as far as they go: a key alone, a value alone, or both. */
import { chooseLayout, type LayoutChoice, layoutFromEvidence } from '../choose-layout.ts';
import { type DecodedKey, decodeKey, type KeyWarning, keyText } from '../key.ts';
import { KEY_BYTES, type Layout, type LayoutName, layoutNamed } from '../layout.ts';
import { LayoutEvidence } from '../layout-evidence.ts';
import { decodeValue, type RemoteEndpointInfo } from '../remote-endpoint-info.ts';
import { type ValueWarning, valueWarnings } from '../value-warnings.ts';
import { type PastedEntry, type PasteOrigin, pasteError } from './pasted-entry.ts';

export interface DecodedPaste {
  /** The decoded bytes. */
  readonly bytes: PastedEntry;
  readonly layout: Layout;
  /** Absent without key bytes. */
  readonly key?: DecodedKey & { readonly text: string };
  /** Absent without value bytes. */
  readonly value?: RemoteEndpointInfo;
  readonly warnings: readonly (KeyWarning | ValueWarning)[];
}

export interface DecodedPastes {
  readonly choice: LayoutChoice;
  readonly entries: readonly DecodedPaste[];
}

/**
 * All entries are taken to come from one map; without values its keys are read as the newest layout has them.
 * @throws {AmbiguousError | LayoutError} as layouts are chosen. @throws {ToolError} for values of different sizes.
 */
export function decodePasted(entries: readonly PastedEntry[], origin: PasteOrigin, asked?: LayoutName): DecodedPastes {
  const choice = choiceFor(entries, origin, asked);
  return { choice, entries: entries.map((bytes) => decodeOne(choice.layout, bytes)) };
}

function decodeOne(layout: Layout, bytes: PastedEntry): DecodedPaste {
  const decoded = bytes.key && decodeKey(layout, bytes.key);
  const key = decoded && bytes.key && { ...decoded, text: keyText(decoded, bytes.key) };
  const value = bytes.value && decodeValue(layout, bytes.value);
  const warnings = [...(key?.warnings ?? []), ...(value ? valueWarnings(layout.value, value) : [])];
  return { bytes, layout, ...(key && { key }), ...(value && { value }), warnings };
}

/** Whether the key has bytes that mean a cluster ID in one layout and nothing in another. */
function dependsOnLayout({ key }: PastedEntry): boolean {
  return key?.subarray(4, 7).some((byte) => byte !== 0) ?? false;
}

function choiceFor(entries: readonly PastedEntry[], origin: PasteOrigin, asked?: LayoutName): LayoutChoice {
  const sizes = [...new Set(entries.flatMap(({ value }) => value?.length ?? []))];
  if (sizes.length > 1) {
    throw pasteError(origin, 1, `values have ${sizes.join(' and ')} bytes, which is more than one map`);
  }
  const [valueBytes] = sizes;
  if (valueBytes === undefined) {
    const layout = layoutNamed(asked ?? 'v2');
    const by = asked !== undefined ? 'request' : entries.some(dependsOnLayout) ? 'assumed' : 'size';
    return { layout, by, candidates: [layout] };
  }
  const map = origin.from === 'argument' ? 'the bytes given' : origin.file;
  const chosen = chooseLayout({ map, keyBytes: KEY_BYTES, valueBytes, ...(asked && { layout: asked }) });
  if (chosen !== undefined) return chosen;
  const evidence = new LayoutEvidence();
  const noKey = new Uint8Array(KEY_BYTES);
  for (const { key = noKey, value } of entries) if (value) evidence.observe(key, value, 1);
  return layoutFromEvidence(map, evidence.counts);
}
