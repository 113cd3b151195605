/** The flags of `ipc listen`, and what the rules of the datapath need to know of this node. */

import * as Flags from '@oclif/core/flags';
import type { TunnelRules } from '../datapath/tunnel-endpoint.ts';
import { UsageError } from '../errors.ts';
import type { NodeFamilies } from '../listen/source-feed.ts';
import { parseAddress } from '../net/address.ts';
import { parseSourceRefs, type SourceRef } from '../sources/source-ref.ts';
import { DEFAULT_CONTROL_SOCKET } from './control-socket.ts';
import { EMPTY_IS_NONE, variableOf } from './define.ts';
import { clusterFlag, countFlag, durationFlag } from './flags.ts';
import { programsWillReloadFlag, soleWriterFlag } from './use-owner.ts';

const SOURCES = 'SOURCES';
const NODE = 'NODE';
const MAP = 'MAP';
const SERVICE = 'SERVICE';

/** Settings of a service may stand in its config file, those that are yes or no among them. */
export const listenFlags = {
  source: Flags.string({
    multiple: true,
    summary: 'where addresses and identities come from: ndjson:-|PATH, unix:PATH, snapshot:PATH',
    helpValue: 'SOURCE',
    helpGroup: SOURCES,
  }),
  strict: Flags.boolean({
    env: variableOf('strict'),
    summary: 'end with 9 at the first line that is no event',
    helpGroup: SOURCES,
  }),
  'require-sync': durationFlag({
    summary: 'end with 8 when the sources are not complete after so long',
    helpGroup: SOURCES,
  }),
  'grace-period': durationFlag({
    summary: 'how long restored numbers are kept once all sources are complete',
    default: 30_000,
    defaultHelp: async () => '30s',
    helpGroup: SOURCES,
  }),
  underlay: Flags.option({
    options: ['ipv4', 'ipv6', 'none'] as const,
    summary: 'family of the packets that carry the tunnel; none: no tunnels',
    helpGroup: NODE,
  })(),
  'node-ipv4': Flags.string({ summary: 'IPv4 address of this node', helpValue: 'ADDR', helpGroup: NODE }),
  'node-ipv6': Flags.string({ summary: 'IPv6 address of this node', helpValue: 'ADDR', helpGroup: NODE }),
  'cluster-name': Flags.string({
    summary: 'name of this cluster, for ipc status',
    helpValue: 'NAME',
    helpGroup: NODE,
  }),
  'cluster-id': clusterFlag({ summary: 'ID of this cluster, 0 when it has none', default: 0, helpGroup: NODE }),
  ipv4: Flags.boolean({
    env: variableOf('ipv4'),
    summary: 'IPv4 is enabled',
    default: true,
    allowNo: true,
    helpGroup: NODE,
  }),
  ipv6: Flags.boolean({
    env: variableOf('ipv6'),
    summary: 'IPv6 is enabled',
    default: true,
    allowNo: true,
    helpGroup: NODE,
  }),
  'no-restore': Flags.boolean({ summary: 'begin with nothing: numbers may change', helpGroup: MAP }),
  recreate: Flags.boolean({ summary: 'fill a new map and rename its pin over the old one', helpGroup: MAP }),
  'max-entries': countFlag({ summary: 'size of a new map', helpGroup: MAP }),
  'map-flags': Flags.string({
    summary: 'BPF_F_* flags of a new map, as a number',
    helpValue: 'FLAGS',
    helpGroup: MAP,
  }),
  'gc-interval': durationFlag({
    summary: 'how often entries that no source has are collected; 0: never',
    default: 300_000,
    defaultHelp: async () => '5m',
    helpGroup: MAP,
  }),
  reassert: Flags.boolean({
    env: variableOf('reassert'),
    summary: 'write again what somebody else changed',
    helpGroup: MAP,
  }),
  'allow-gap': Flags.boolean({
    env: variableOf('allow-gap'),
    summary: 'where a full map cannot be changed in place, delete the entry and write it again',
    helpGroup: MAP,
  }),
  'sole-writer': soleWriterFlag(),
  'programs-will-reload': programsWillReloadFlag(),
  'stop-timeout': durationFlag({
    summary: 'how long the end may take until the rest is remembered as pending',
    default: 10_000,
    defaultHelp: async () => '10s',
    helpGroup: SERVICE,
  }),
  socket: Flags.string({
    ...EMPTY_IS_NONE,
    summary: 'control socket; empty for none',
    helpValue: 'PATH',
    default: DEFAULT_CONTROL_SOCKET,
    helpGroup: SERVICE,
  }),
  metrics: Flags.string({
    summary: 'serve Prometheus metrics, /healthz and /readyz there',
    helpValue: '[ADDR]:PORT',
    helpGroup: SERVICE,
  }),
  monitor: Flags.string({
    summary: 'tell every change once it is written: ndjson:-, ndjson:FILE or unix:PATH',
    helpValue: 'TARGET',
    helpGroup: SERVICE,
  }),
};

export interface ListenFlagValues {
  readonly source?: readonly string[] | undefined;
  readonly strict: boolean;
  readonly 'require-sync'?: number | undefined;
  readonly 'grace-period': number;
  readonly underlay?: 'ipv4' | 'ipv6' | 'none' | undefined;
  readonly 'node-ipv4'?: string | undefined;
  readonly 'node-ipv6'?: string | undefined;
  readonly 'cluster-name'?: string | undefined;
  readonly 'cluster-id': number;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  readonly 'no-restore': boolean;
  readonly recreate: boolean;
  readonly 'max-entries'?: number | undefined;
  readonly 'map-flags'?: string | undefined;
  readonly 'gc-interval': number;
  readonly reassert: boolean;
  readonly 'allow-gap': boolean;
  readonly 'sole-writer': boolean;
  readonly 'programs-will-reload': boolean;
  readonly 'stop-timeout': number;
  readonly socket: string;
  readonly metrics?: string | undefined;
  readonly monitor?: string | undefined;
}

/** @throws {UsageError} NO_SOURCE, BAD_SOURCE, DUPLICATE_SOURCE */
export function sourceRefs({ source = [] }: ListenFlagValues): SourceRef[] {
  if (source.length === 0) {
    throw new UsageError('Cannot listen to nothing: no source is given', {
      code: 'NO_SOURCE',
      hint: 'name at least one with --source: ndjson:-, ndjson:PATH, unix:PATH or snapshot:PATH',
    });
  }
  // Every flag is a comma list, and so are the options in front of a source: together they are one list again.
  const refs = parseSourceRefs(source.join(','));
  const names = new Set<string>();
  for (const { name } of refs) {
    if (names.has(name)) {
      throw new UsageError(`Cannot use two sources with the name ${name}: nobody could tell them apart`, {
        code: 'DUPLICATE_SOURCE',
        hint: 'give one of them another name: name=X,ndjson:PATH',
      });
    }
    names.add(name);
  }
  return refs;
}

/** @throws {UsageError} NODE_FACT where a fact that the rules need is missing: it is never guessed */
export function tunnelRules(flags: ListenFlagValues): TunnelRules {
  const ipv4 = nodeAddress('node-ipv4', flags['node-ipv4'], 4);
  const ipv6 = nodeAddress('node-ipv6', flags['node-ipv6'], 16);
  const node = { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }) };
  const { underlay } = flags;
  if (underlay === undefined) {
    throw missing('whether hosts become tunnel endpoints', 'say --underlay ipv4, --underlay ipv6 or --underlay none');
  }
  if (underlay === 'none') return { node };
  if (node[underlay] === undefined) {
    const hint = `give it with --node-${underlay}; without it this node would tunnel to itself`;
    throw missing(`the ${underlay === 'ipv4' ? 'IPv4' : 'IPv6'} address of this node`, hint);
  }
  return { underlay, node };
}

/** @throws {UsageError} both families are off */
export function nodeFamilies(flags: ListenFlagValues): NodeFamilies {
  const { ipv4, ipv6 } = flags;
  if (!ipv4 && !ipv6) throw new UsageError('Cannot listen to anything: both families are off');
  return { ipv4, ipv6, clusterId: flags['cluster-id'] };
}

function nodeAddress(flag: string, text: string | undefined, bytes: number): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  if (address?.length === bytes && address.some((byte) => byte !== 0)) return address;
  throw new UsageError(`Cannot use ${JSON.stringify(text)} as --${flag}: not an address of a node`, {
    code: 'BAD_ADDRESS',
  });
}

function missing(what: string, hint: string): UsageError {
  return new UsageError(`Cannot listen without knowing ${what}: it is not given, and is never guessed`, {
    code: 'NODE_FACT',
    hint,
  });
}
