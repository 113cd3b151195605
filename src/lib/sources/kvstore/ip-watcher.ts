/**
 * Follows the addresses of one kvstore prefix (Cilium 1.21, pkg/ipcache/kvstore.go and pkg/kvstore/store): what is read
 * back, what is believed, and what is swept after a new listing. It does not speak to a kvstore itself.
 */
import type { DirectValue } from '../../cache/entry-store.ts';
import type { PodMetadata } from '../../cache/listener.ts';
import { MalformedError } from '../../errors.ts';
import { allocationRange, MIN_GLOBAL } from '../../identity/numeric-identity.ts';
import { IDENTITY_HOST, IDENTITY_REMOTE_NODE } from '../../identity/reserved.ts';
import { annotateIPCacheKeyWithClusterID } from '../../net/prefix-cluster.ts';
import { readNamedPorts } from '../named-ports.ts';
import { pooledText } from '../text-pool.ts';
import { type IpIdentityPair, pairKeyName, parsePair } from './ip-identity-pair.ts';
import { watchedPrefix } from './keys.ts';

export interface IpWatcherSink {
  /** @param ip address or prefix as the kvstore has it, with the cluster when there is one */
  upsert(ip: string, value: DirectValue): void;
  delete(ip: string): void;
  /** The listing has ended and what it did not have is gone. */
  synced(): void;
}

export type IpWatcherProblem =
  | { readonly kind: 'bad-value'; readonly key: string; readonly error: MalformedError }
  /** The number does not belong to the cluster that is followed. */
  | { readonly kind: 'foreign-identity'; readonly key: string; readonly identity: number }
  | { readonly kind: 'no-address'; readonly key: string }
  | { readonly kind: 'unknown-key'; readonly key: string };

export interface IpWatcherSetup {
  readonly sink: IpWatcherSink;
  /** The Cilium source of what is found. */
  readonly source: string;
  /** The cluster whose copy a mesh cache keeps. */
  readonly cachedCluster?: string | undefined;
  /** Only numbers of this cluster, and those below 256, are believed. */
  readonly validatedCluster?: number | undefined;
  readonly maxConnectedClusters?: 255 | 511;
  /** A key that this node itself keeps alive: somebody else's delete of it is not believed. */
  readonly isOwn?: (name: string) => boolean;
  readonly onOwnDeleted?: (name: string) => void;
  readonly onProblem?: (problem: IpWatcherProblem) => void;
}

interface Known {
  readonly pair: IpIdentityPair;
  /** The listing that saw it last. */
  listing: number;
}

export class IpWatcher {
  readonly watchedPrefix: string;
  readonly #setup: IpWatcherSetup;
  readonly #known = new Map<string, Known>();
  #listing = 0;
  #clusterId = 0;

  constructor(setup: IpWatcherSetup) {
    this.#setup = setup;
    this.watchedPrefix = watchedPrefix(setup.cachedCluster);
  }

  /** How many keys are known, also those whose numbers are not believed. */
  get size(): number {
    return this.#known.size;
  }

  /** A listing begins. What it does not have is swept when it ends; another cluster ID takes everything back at once. */
  beginListing(clusterId = 0): void {
    if (clusterId !== this.#clusterId) this.drain();
    this.#clusterId = clusterId;
    this.#listing++;
  }

  /** A key was created or modified. A value that cannot be read leaves what was there. */
  put(key: string, json: string): void {
    const name = this.#nameOf(key);
    const pair = this.#read(key, name, json);
    if (pair === undefined) return;
    this.#known.set(name, { pair, listing: this.#listing });
    if (!this.#isBelieved(pair.id)) {
      this.#problem({ kind: 'foreign-identity', key, identity: pair.id });
    } else if (pair.ip === undefined) this.#problem({ kind: 'no-address', key });
    else this.#setup.sink.upsert(this.#ipOf(pair), directValueOf(pair, this.#setup.source));
  }

  remove(key: string): void {
    const name = this.#nameOf(key);
    const known = this.#known.get(name);
    if (known === undefined) this.#problem({ kind: 'unknown-key', key });
    else this.#forget(name, known);
  }

  endListing(): void {
    for (const [name, known] of this.#known) if (known.listing < this.#listing) this.#forget(name, known);
    this.#setup.sink.synced();
  }

  /** Takes everything back. */
  drain(): void {
    for (const [name, known] of this.#known) this.#forget(name, known);
  }

  #forget(name: string, { pair }: Known): void {
    this.#known.delete(name);
    if (this.#setup.isOwn?.(name)) this.#setup.onOwnDeleted?.(name);
    else this.#setup.sink.delete(this.#ipOf(pair));
  }

  #nameOf(key: string): string {
    return key.startsWith(this.watchedPrefix) ? key.slice(this.watchedPrefix.length) : key;
  }

  #ipOf(pair: IpIdentityPair): string {
    const name = pairKeyName(pair);
    return this.#clusterId === 0 ? name : annotateIPCacheKeyWithClusterID(name, this.#clusterId);
  }

  #read(key: string, name: string, json: string): IpIdentityPair | undefined {
    try {
      return parseNamedPair(name, json);
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      this.#problem({ kind: 'bad-value', key, error });
      return undefined;
    }
  }

  #isBelieved(identity: number): boolean {
    const { validatedCluster, maxConnectedClusters = 255 } = this.#setup;
    if (validatedCluster === undefined || identity < MIN_GLOBAL) return true;
    const { min, max } = allocationRange(validatedCluster, { maxConnectedClusters });
    return identity >= min && identity <= max;
  }

  #problem(problem: IpWatcherProblem): void {
    this.#setup.onProblem?.(problem);
  }
}

/** Reads a value, which must describe exactly its key. @throws {MalformedError} code BAD_PAIR or KEY_MISMATCH */
export function parseNamedPair(name: string, json: string): IpIdentityPair {
  const pair = parsePair(json);
  const found = pairKeyName(pair);
  if (found === name) return pair;
  throw new MalformedError(`Cannot use the IP identity pair of ${name}: it describes ${found}`, {
    code: 'KEY_MISMATCH',
  });
}

/** What the pair says about its address. Another node's host is a remote node to us. */
export function directValueOf(pair: IpIdentityPair, source: string): DirectValue {
  return {
    identity: pair.id === IDENTITY_HOST ? IDENTITY_REMOTE_NODE : pair.id,
    source,
    hostIP: pair.hostIP,
    encryptKey: pair.key,
    pod: podOf(pair),
  };
}

function podOf({ k8sNamespace, k8sPodName, namedPorts }: IpIdentityPair): PodMetadata | undefined {
  if (k8sNamespace === '' && k8sPodName === '' && namedPorts.length === 0) return undefined;
  const pod = { namespace: pooledText(k8sNamespace), name: k8sPodName };
  return namedPorts.length === 0 ? pod : { ...pod, namedPorts: readNamedPorts(namedPorts) };
}
