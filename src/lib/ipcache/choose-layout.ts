/**
 * Which layout a map has, decided by the map and never by an agent's version: what the user asks for, then the map's
 * type information, then the value size, and for 12 bytes what the whole map holds.
 */
import { AmbiguousError, LayoutError } from '../errors.ts';
import { KEY_BYTES, LAYOUTS, type Layout, type LayoutName, layoutNamed } from './layout.ts';
import type { EvidenceCounts } from './layout-evidence.ts';
import { keyLayoutFromBtf, type StructMember, valueLayoutFromBtf } from './layout-from-btf.ts';

export interface MapShape {
  /** How messages name it, as BpfMap.label does: `map /sys/fs/bpf/x`. */
  readonly map: string;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** --layout. */
  readonly layout?: LayoutName;
  /** Members of the key's and the value's struct, where the map carries BTF. */
  readonly btf?: { readonly key?: readonly StructMember[]; readonly value?: readonly StructMember[] };
}

export interface LayoutChoice {
  readonly layout: Layout;
  /** `assumed`: nothing in the map tells the candidates apart, and the newest reads it as well as any. */
  readonly by: 'request' | 'btf' | 'size' | 'content' | 'assumed';
  /** Every row that explains the map, the chosen one first. A write must come out the same under all of them. */
  readonly candidates: readonly Layout[];
}

const SIZES = [...new Set(LAYOUTS.map((layout) => layout.value.bytes))].sort((a, b) => a - b);

/**
 * Chooses without looking at entries, where that is possible.
 * @returns undefined when the entries must be seen: walk them into a LayoutEvidence, then {@link layoutFromEvidence}.
 * @throws {LayoutError} when no layout has these sizes, or the one asked for has others.
 */
export function chooseLayout(shape: MapShape): LayoutChoice | undefined {
  const rows = LAYOUTS.filter((layout) => layout.value.bytes === shape.valueBytes);
  if (shape.keyBytes !== KEY_BYTES || rows.length === 0) {
    throw new LayoutError(
      `Cannot read ${shape.map} as an ipcache: keys have ${shape.keyBytes} and values ${shape.valueBytes} bytes`,
      {
        hint: `an ipcache has keys of ${KEY_BYTES} bytes and values of ${SIZES.join(', ')} bytes`,
        operands: { map: shape.map, keyBytes: shape.keyBytes, valueBytes: shape.valueBytes },
      },
    );
  }
  if (shape.layout !== undefined) return requested(shape, layoutNamed(shape.layout));
  const told = layoutFromBtf(shape, rows);
  if (told !== undefined) return { layout: told, by: 'btf', candidates: [told] };
  const [only] = rows;
  // Of the two rows with 8 bytes the 16-bit one is read only when asked for by name.
  if (only === undefined || shape.valueBytes === 12) return undefined;
  return { layout: only, by: 'size', candidates: [only] };
}

/**
 * Chooses between the four rows with 12 bytes by what the whole map holds.
 * @throws {AmbiguousError} when no version writes all of what was seen.
 */
export function layoutFromEvidence(map: string, counts: EvidenceCounts): LayoutChoice {
  const names = explainers(counts);
  const [newest] = names;
  if (newest === undefined) throw contradiction(map, counts);
  const candidates = names.map(layoutNamed);
  const seen = seenBytes(counts).length > 0;
  return { layout: layoutNamed(newest), by: seen ? 'content' : 'assumed', candidates };
}

/** Node IDs are random 16-bit numbers: without byte 9 anywhere, byte 8 is not the low half of one. */
function explainers(counts: EvidenceCounts): LayoutName[] {
  const has114 = counts.value9 > 0 || counts.key6 > 0;
  let names: LayoutName[] = ['1.16', '1.15', '1.14', '1.5'];
  const keep = (...allowed: LayoutName[]) => {
    names = names.filter((name) => allowed.includes(name));
  };
  if (counts.value11 > 0) keep('1.16');
  if (has114) keep('1.14');
  if (counts.key4 > 0) keep('1.16', '1.15');
  if (counts.value10 > 0 && !has114) keep('1.16', '1.15');
  if (counts.value8 > 0 && !has114) keep('1.5');
  return names;
}

function seenBytes(counts: EvidenceCounts): string[] {
  const bytes: readonly (readonly [string, number])[] = [
    ['value byte 8', counts.value8],
    ['value byte 9', counts.value9],
    ['value byte 10', counts.value10],
    ['value byte 11', counts.value11],
    ['key byte 4 or 5', counts.key4],
    ['key byte 6', counts.key6],
  ];
  return bytes.filter(([, count]) => count > 0).map(([name, count]) => `${name} in ${count}`);
}

function contradiction(map: string, counts: EvidenceCounts): AmbiguousError {
  return new AmbiguousError(
    `Cannot tell the layout of ${map}: no version sets all of ${seenBytes(counts).join(', ')} ` +
      `of ${counts.entries} entries`,
    {
      code: 'LAYOUT_AMBIGUOUS',
      hint: 'name the layout with --layout 1.16, 1.15, 1.14 or 1.5',
      operands: { map, ...counts },
    },
  );
}

function requested(shape: MapShape, layout: Layout): LayoutChoice {
  if (layout.value.bytes === shape.valueBytes) return { layout, by: 'request', candidates: [layout] };
  const fitting = LAYOUTS.filter((row) => row.value.bytes === shape.valueBytes).map((row) => row.name);
  throw new LayoutError(
    `Cannot read ${shape.map} in layout ${layout.name}: its values have ${shape.valueBytes} bytes, ` +
      `not ${layout.value.bytes}`,
    { hint: `use --layout ${fitting.join(' or ')}`, operands: { map: shape.map, layout: layout.name } },
  );
}

/** The row that BTF describes, or one made for it where it describes none of them. */
function layoutFromBtf(shape: MapShape, rows: readonly Layout[]): Layout | undefined {
  const value = shape.btf?.value && valueLayoutFromBtf(shape.btf.value, shape.valueBytes);
  if (value === undefined) return undefined;
  const key = shape.btf?.key && keyLayoutFromBtf(shape.btf.key);
  const { knownFlags: _, ...places } = value;
  const row = rows.find((candidate) => {
    const { knownFlags: __, ...rowPlaces } = candidate.value;
    return equal(rowPlaces, places) && (key === undefined || equal(candidate.key, key));
  });
  if (row !== undefined) return row;
  const [newest] = rows;
  const fallback = key ?? newest?.key;
  return fallback && { name: 'btf', cilium: 'as the type information of the map says', key: fallback, value };
}

function equal(a: object, b: object): boolean {
  const text = (value: object): string => JSON.stringify(Object.entries(value).sort());
  return text(a) === text(b);
}
