/** The fields of events, each read strictly: a value that is almost right is refused, not guessed. */
import { parseCacheKey } from '../cache/cache-key.ts';
import type { NamedPorts, PodMetadata } from '../cache/listener.ts';
import { FLAG_REMOTE_CLUSTER, FLAG_SKIP_TUNNEL } from '../cache/resource-info.ts';
import { isSourceName } from '../cache/source-rank.ts';
import { UsageError } from '../errors.ts';
import { Labels } from '../identity/labels.ts';
import { MAX_IDENTITY } from '../identity/numeric-identity.ts';
import { EventFault } from './event-fault.ts';
import { canonicalHost } from './host-pool.ts';
import { type RawPort, readNamedPorts } from './named-ports.ts';
import { pooledText } from './text-pool.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** @throws {EventFault} for a field that this kind of event does not have: a mistyped one must not be lost */
export function onlyFields(fields: Fields, known: ReadonlySet<string>): void {
  for (const name in fields) if (!known.has(name)) throw new EventFault(name, 'is not a field of this event');
}

export function keyField(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new EventFault(name, 'is not a text');
  try {
    return parseCacheKey(value);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new EventFault(name, `is not a prefix: ${error.message}`);
  }
}

export function numberField(value: unknown, name: string, max: number = MAX_IDENTITY): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new EventFault(name, `is not a whole number from 0 to ${max}`);
}

export function optionalNumber(value: unknown, name: string, max?: number): number | undefined {
  return value === undefined ? undefined : numberField(value, name, max);
}

/** Empty and null mean none. */
export function addressField(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const address = typeof value === 'string' ? canonicalHost(value) : undefined;
  if (address === undefined) throw new EventFault(name, 'is not an IP address');
  return address;
}

export function sourceField(value: unknown, fallback: string): string {
  if (value === undefined) return fallback;
  if (typeof value === 'string' && isSourceName(value)) return value;
  throw new EventFault('source', 'is not the name of a Cilium source');
}

export function resourceField(value: unknown): string {
  if (typeof value === 'string' && /^[^/]+\/[^/]*\/./.test(value)) return value;
  throw new EventFault('resource', 'is not kind/namespace/name');
}

export function labelsField(value: unknown): Labels {
  const texts = textList(value, 'labels');
  const labels = Labels.parse(texts);
  if (labels.size < new Set(texts).size) throw new EventFault('labels', 'has a label without a key, or a key twice');
  return labels;
}

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['skiptunnel', FLAG_SKIP_TUNNEL],
  ['remotecluster', FLAG_REMOTE_CLUSTER],
]);

export function endpointFlagsField(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  let bits = 0;
  for (const flag of textList(value, 'endpointFlags')) {
    const bit = FLAGS.get(flag);
    if (bit === undefined) throw new EventFault('endpointFlags', `has ${JSON.stringify(flag)}, which is no such flag`);
    bits |= bit;
  }
  return bits;
}

export function podField(value: unknown): PodMetadata | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) throw new EventFault('pod', 'is not an object');
  const { namespace = '', name = '', namedPorts } = value as Fields;
  if (typeof namespace !== 'string' || typeof name !== 'string') throw new EventFault('pod', 'has no name');
  const pod = { namespace: pooledText(namespace), name };
  return namedPorts === undefined ? pod : { ...pod, namedPorts: portsField(namedPorts) };
}

export function textList(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new EventFault(name, 'is not a list of texts');
}

function portsField(value: unknown): NamedPorts {
  if (typeof value !== 'object' || value === null) throw new EventFault('pod.namedPorts', 'is not an object');
  const ports = Object.entries(value as Readonly<Record<string, Fields | null>>).map(([name, port]): RawPort => {
    const { protocol = '' } = port ?? {};
    if (typeof protocol !== 'string') throw new EventFault('pod.namedPorts', 'has a protocol that is not a text');
    return { name, port: numberField(port?.port, 'pod.namedPorts', 0xffff), protocol };
  });
  return readNamedPorts(ports);
}
