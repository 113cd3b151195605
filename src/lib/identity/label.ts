/** One label, `source:key=value`, read and printed as Cilium 1.21 does (pkg/labels). */
import { type LabelCidr, parseLabelCidr } from './label-cidr.ts';

export interface Label {
  /** Where it comes from: `k8s`, `reserved`, `cidr`, `fqdn`, … ; empty only when a JSON file says so. */
  readonly source: string;
  readonly key: string;
  /** Empty when the label has none. */
  readonly value: string;
  /**
   * The prefix a `cidr` label stands for when it was made from one that had host bits, which the key has not.
   * Absent: what the key says.
   */
  readonly cidr?: LabelCidr;
}

export const SOURCE_UNSPEC = 'unspec';
export const SOURCE_ANY = 'any';
export const SOURCE_RESERVED = 'reserved';
export const SOURCE_CIDR = 'cidr';
export const SOURCE_CIDR_GROUP = 'cidrgroup';
export const SOURCE_FQDN = 'fqdn';
export const SOURCE_NODE = 'node';

/** Reads `source:key=value`, `source:key`, `key=value`, `key`, or `$name` for a reserved label. Never fails. */
export function parseLabel(text: string): Label {
  const { source, rest } = splitSource(text);
  const equals = rest.indexOf('=');
  if (equals < 0) return { source: source || SOURCE_UNSPEC, key: rest, value: '' };
  // `reserved:=host` is an old way to write `reserved:host`.
  if (equals === 0 && source === SOURCE_RESERVED) return { source, key: rest.slice(1), value: '' };
  return { source: source || SOURCE_UNSPEC, key: rest.slice(0, equals), value: rest.slice(equals + 1) };
}

/** A label from its parts. A source inside `key` is used when `source` is empty and dropped when it is not. */
export function newLabel(key: string, value: string, source: string): Label {
  const inner = splitSource(key);
  const chosen = source || inner.source || SOURCE_UNSPEC;
  if (inner.source === SOURCE_RESERVED && inner.rest === '') return { source: chosen, key: value, value: '' };
  return { source: chosen, key: inner.rest, value };
}

/** A reserved label such as `reserved:host`. */
export function reservedLabel(name: string): Label {
  return { source: SOURCE_RESERVED, key: name, value: '' };
}

/** `source:key=value`, or `source:key` when the value is empty. */
export function formatLabel(label: Label): string {
  return label.value === '' ? `${label.source}:${label.key}` : `${label.source}:${label.key}=${label.value}`;
}

/** The form that makes up the kvstore key and the allocator's key: `=` and the final `;` always there. */
export function formatForKvstore(label: Label): string {
  return `${label.source}:${label.key}=${label.value};`;
}

/** `source:key`. */
export function extendedKey(label: Label): string {
  return `${label.source}:${label.key}`;
}

/** The prefix of a `cidr` label, host bits kept. @returns undefined for other sources and for keys that are no prefix */
export function labelCidr(label: Label): LabelCidr | undefined {
  if (label.source !== SOURCE_CIDR) return undefined;
  return label.cidr ?? parseLabelCidr(label.key);
}

/** Same source, key and value. */
export function sameLabel(a: Label, b: Label): boolean {
  return a.source === b.source && a.key === b.key && a.value === b.value;
}

function splitSource(text: string): { source: string; rest: string } {
  if (text.startsWith('$')) return { source: SOURCE_RESERVED, rest: text.slice(1) };
  const colon = text.indexOf(':');
  return colon < 0 ? { source: '', rest: text } : { source: text.slice(0, colon), rest: text.slice(colon + 1) };
}
