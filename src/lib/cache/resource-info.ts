/** What one resource says about one prefix: every kind of information it may give (Cilium 1.21, pkg/ipcache). */
import type { Labels } from '../identity/labels.ts';

export const INFO_KINDS = [
  'labels',
  'identityOverride',
  'tunnelPeer',
  'encryptKey',
  'requestedIdentity',
  'endpointFlags',
] as const;

export type InfoKind = (typeof INFO_KINDS)[number];

/** Kinds that are absent are left as they are. */
export interface MetadataInfo {
  /** An empty set is information too: it keeps the prefix, which then gets labels by itself. */
  readonly labels?: Labels;
  /** The labels of this resource are the identity, nothing is merged into them. */
  readonly identityOverride?: boolean;
  /** Canonical address text; empty for none. */
  readonly tunnelPeer?: string;
  /** 0 for none. */
  readonly encryptKey?: number;
  /** 0 for none. */
  readonly requestedIdentity?: number;
  /** Bits of EndpointFlags; 0 is a statement (no flags) and hides those of weaker resources. */
  readonly endpointFlags?: number;
}

/** Bits of the endpoint flags, as in the map's value. */
export const FLAG_SKIP_TUNNEL = 1;
export const FLAG_REMOTE_CLUSTER = 8;

/** What a prefix has in the end. A resource that is alone on its prefix is this already. */
export interface Flattened {
  readonly source: string;
  readonly labels: Labels | undefined;
  readonly identityOverride: boolean;
  readonly tunnelPeer: string;
  readonly encryptKey: number;
  readonly requestedIdentity: number;
  /** -1 when nobody set any. */
  readonly endpointFlags: number;
}

export class ResourceInfo implements Flattened {
  readonly resource: string;
  source: string;
  labels: Labels | undefined = undefined;
  identityOverride = false;
  tunnelPeer = '';
  encryptKey = 0;
  requestedIdentity = 0;
  endpointFlags = -1;

  constructor(resource: string, source: string) {
    this.resource = resource;
    this.source = source;
  }

  /** Replaces the kinds that are given. @returns whether anything is different now */
  merge(info: MetadataInfo, source: string): boolean {
    if (INFO_KINDS.every((kind) => info[kind] === undefined)) return false;
    const { labels, identityOverride, tunnelPeer, encryptKey, requestedIdentity, endpointFlags } = info;
    const changed =
      this.source !== source ||
      (labels !== undefined && !sameLabels(this.labels, labels)) ||
      differs(this.identityOverride, identityOverride) ||
      differs(this.tunnelPeer, tunnelPeer) ||
      differs(this.encryptKey, encryptKey) ||
      differs(this.requestedIdentity, requestedIdentity) ||
      differs(this.endpointFlags, endpointFlags);
    if (!changed) return false;
    this.source = source;
    this.labels = labels?.compact() ?? this.labels;
    this.identityOverride = identityOverride ?? this.identityOverride;
    this.tunnelPeer = tunnelPeer ?? this.tunnelPeer;
    this.encryptKey = encryptKey ?? this.encryptKey;
    this.requestedIdentity = requestedIdentity ?? this.requestedIdentity;
    this.endpointFlags = endpointFlags ?? this.endpointFlags;
    return true;
  }

  clear(kinds: readonly InfoKind[]): void {
    for (const kind of kinds) {
      if (kind === 'labels') this.labels = undefined;
      else if (kind === 'identityOverride') this.identityOverride = false;
      else if (kind === 'tunnelPeer') this.tunnelPeer = '';
      else if (kind === 'encryptKey') this.encryptKey = 0;
      else if (kind === 'requestedIdentity') this.requestedIdentity = 0;
      else this.endpointFlags = -1;
    }
  }

  /** Whether the resource still says anything. */
  isValid(): boolean {
    return (
      this.labels !== undefined ||
      this.identityOverride ||
      this.tunnelPeer !== '' ||
      this.encryptKey !== 0 ||
      this.requestedIdentity !== 0 ||
      this.endpointFlags >= 0
    );
  }
}

function differs<T>(present: T, next: T | undefined): boolean {
  return next !== undefined && next !== present;
}

function sameLabels(a: Labels | undefined, b: Labels): boolean {
  return a !== undefined && a.sortedList === b.sortedList && a.equals(b);
}
