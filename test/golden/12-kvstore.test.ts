import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../src/lib/errors.ts';
import { formatAddress, isMapped, parseAddress } from '../../src/lib/net/address.ts';
import { formatPair, type IpIdentityPair, pairKeyName } from '../../src/lib/sources/kvstore/ip-identity-pair.ts';
import { IpWatcher, type IpWatcherSetup, parseNamedPair } from '../../src/lib/sources/kvstore/ip-watcher.ts';
import { publishedKey } from '../../src/lib/sources/kvstore/keys.ts';
import { comparable, withoutMarks } from './cache-compare.ts';
import { CacheHarness, type GoldenK8s, k8sOf } from './cache-harness.ts';
import { type GoldenStep, runStep } from './cache-steps.ts';
import { loadTopic } from './load.ts';
import { type ExpectedEntry, type ExpectedEvent, whyOursDiffers } from './upstream-differences.ts';

interface GoldenPair {
  readonly ip: string | null;
  readonly maskBase64: string | null;
  readonly hostIP: string | null;
  readonly id: number;
  readonly key: number;
  readonly metadata: string;
  readonly k8sNamespace: string;
  readonly k8sPodName: string;
  readonly k8sServiceAccount: string;
  readonly namedPorts: readonly { readonly Name: string; readonly Port: number; readonly Protocol: string }[] | null;
}

interface PublishedPair extends Omit<GoldenPair, 'ip' | 'maskBase64' | 'namedPorts'> {
  readonly ip: string;
  readonly namedPorts?: GoldenK8s['namedPorts'];
}

interface WatchEvent {
  readonly type: 'create' | 'modify' | 'delete' | 'listDone';
  readonly key: string;
  readonly value?: string;
}

interface Watch {
  readonly clusterID: number;
  readonly identityValidatorClusterID: number | null;
  readonly cachedPrefix: boolean;
  readonly clusterName: string;
  readonly source: string;
  readonly maxConnectedClusters: 255 | 511;
  readonly before?: readonly GoldenStep[];
  readonly selfDeletionProtection?: readonly PublishedPair[];
  readonly events: readonly WatchEvent[];
}

type Input =
  | { readonly op: 'marshal'; readonly pair: GoldenPair }
  | { readonly op: 'unmarshal'; readonly key: string; readonly data: string }
  | { readonly op: 'watch'; readonly watch: Watch }
  | {
      readonly op: 'watchRestart';
      readonly source: string;
      readonly drain: boolean;
      readonly watches: readonly Pick<Watch, 'clusterID' | 'events'>[];
    }
  | { readonly op: 'synchronizerUpsert'; readonly params: PublishedPair; readonly kvstoreFails: boolean }
  | { readonly op: 'synchronizerDelete'; readonly ip: string };

type Expect = Readonly<Record<string, unknown>>;

const { cases } = loadTopic<Input, Expect>('12-kvstore');
const isWatch = (input: Input): boolean => input.op === 'watch' || input.op === 'watchRestart';

describe('12-kvstore', () => {
  for (const { name, input, expect: expected } of cases.filter(({ input }) => !isWatch(input))) {
    test(name, () => {
      switch (input.op) {
        case 'marshal': {
          const pair = pairOf(input.pair);
          const found = { json: formatPair(pair), keyName: pairKeyName(pair), isHost: pair.mask === undefined };
          expect(found).toEqual(expected);
          break;
        }
        case 'unmarshal':
          expect(unmarshal(input.key, input.data)).toEqual(withoutErrorText(expected));
          break;
        case 'synchronizerUpsert':
          expect([published(input.params)]).toEqual(expected.writes);
          break;
        case 'synchronizerDelete':
          expect([{ key: publishedKey(input.ip), op: 'delete' }]).toEqual(expected.writes);
          break;
      }
    });
  }
});

describe.each([true, false])('12-kvstore, strictUpstream %s', (strictUpstream) => {
  for (const { name, input, expect: expected } of cases.filter(({ input }) => isWatch(input))) {
    test(name, () => {
      const run = new WatchRun(strictUpstream, sourceOf(input));
      const found = run.run(input);
      if (!strictUpstream) run.harness.checkInvariants();
      if (!strictUpstream && isDifferentOnPurpose(input, expected)) return;
      const { logs, ...wanted } = expected;
      const see = strictUpstream ? comparable : withoutMarks;
      expect(see(found)).toEqual(see(wanted));
    });
  }
});

/** Follows a kvstore prefix into a cache and notes the calls. */
class WatchRun {
  readonly harness: CacheHarness;
  readonly #source: string;
  readonly #calls: object[] = [];
  #isSynced = false;

  constructor(strictUpstream: boolean, source: string) {
    const options = { enableIPv4: true, enableIPv6: true };
    this.harness = new CacheHarness({ strictUpstream, options });
    this.#source = source;
  }

  run(input: Input): object {
    if (input.op === 'watch') return this.#watch(input.watch);
    return input.op === 'watchRestart' ? this.#restart(input) : {};
  }

  #watch(watch: Watch): object {
    for (const step of watch.before ?? []) runStep(this.harness, step);
    this.harness.takeEvents();
    const own = new Map(watch.selfDeletionProtection?.map((pair) => [pair.ip, published(pair)]));
    const rewritten: object[] = [];
    const watcher = this.#newWatcher({
      cachedCluster: watch.cachedPrefix ? watch.clusterName : undefined,
      validatedCluster: watch.identityValidatorClusterID ?? undefined,
      maxConnectedClusters: watch.maxConnectedClusters,
      isOwn: (name) => own.has(name),
      onOwnDeleted: (name) => rewritten.push(own.get(name) ?? {}),
    });
    watcher.beginListing(watch.clusterID);
    for (const event of watch.events) feed(watcher, event);
    return {
      watchedPrefix: watcher.watchedPrefix,
      calls: this.#calls,
      synced: this.#isSynced,
      numEntries: watcher.size,
      entries: this.harness.entries(),
      events: this.harness.takeEvents(),
      ...(own.size > 0 ? { ownWrites: [...own.values()], kvWrites: rewritten } : {}),
    };
  }

  #restart({ watches, drain }: Extract<Input, { op: 'watchRestart' }>): object {
    const watcher = this.#newWatcher({});
    for (const { clusterID, events } of watches) {
      watcher.beginListing(clusterID);
      for (const event of events) feed(watcher, event);
    }
    const numEntriesBeforeDrain = watcher.size;
    if (drain) watcher.drain();
    return { calls: this.#calls, numEntriesBeforeDrain, entries: this.harness.entries() };
  }

  #newWatcher(setup: Partial<IpWatcherSetup>): IpWatcher {
    return new IpWatcher({
      ...setup,
      source: this.#source,
      sink: {
        upsert: (ip, value) => {
          const { identity: id, source, hostIP = null, encryptKey = 0, pod } = value;
          const { error } = this.harness.upsertValue(ip, value);
          this.#calls.push({ call: 'upsert', ip, id, source, hostIP, hostKey: encryptKey, k8s: k8sOf(pod), error });
        },
        delete: (ip) => {
          this.harness.delete(ip, this.#source);
          this.#calls.push({ call: 'delete', ip, source: this.#source });
        },
        synced: () => {
          this.#isSynced = true;
        },
      },
    });
  }
}

function feed(watcher: IpWatcher, { type, key, value = '' }: WatchEvent): void {
  if (type === 'listDone') watcher.endListing();
  else if (type === 'delete') watcher.remove(key);
  else watcher.put(key, value);
}

function sourceOf(input: Input): string {
  if (input.op === 'watch') return input.watch.source;
  return input.op === 'watchRestart' ? input.source : '';
}

/** Ours masks host bits wherever text comes in, and keeps the value of a weaker owner. */
function isDifferentOnPurpose(input: Input, expected: Expect): boolean {
  if (input.op !== 'watch') return false;
  const { calls, entries, events } = expected as {
    readonly calls: readonly { readonly call: string; readonly ip: string; readonly source: string }[];
    readonly entries: readonly ExpectedEntry[];
    readonly events: readonly ExpectedEvent[];
  };
  const hasHostBits = calls.some(({ ip }) => new CacheHarness({ strictUpstream: false }).key(ip) !== ip);
  const steps = [...(input.watch.before ?? []), ...calls.map(({ call, ip, source }) => ({ op: call, ip, source }))];
  const reason = whyOursDiffers(steps, [{ events, state: { entries, metadata: [] } }]);
  return hasHostBits || reason !== undefined;
}

function pairOf(pair: GoldenPair): IpIdentityPair {
  return {
    ...pair,
    ip: unmapped(pair.ip),
    hostIP: unmapped(pair.hostIP),
    mask: pair.maskBase64 === null ? undefined : Buffer.from(pair.maskBase64, 'base64'),
    namedPorts: (pair.namedPorts ?? []).map(({ Name, Port, Protocol }) => ({
      name: Name,
      port: Port,
      protocol: Protocol,
    })),
  };
}

/** What a node writes about one of its addresses: the key has the address as given, the value as printed. */
function published(params: PublishedPair): object {
  const ports = Object.entries(params.namedPorts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const pair: IpIdentityPair = {
    ...params,
    ip: unmapped(params.ip.replace(/%.*$/, '')),
    hostIP: unmapped(params.hostIP),
    mask: undefined,
    namedPorts: ports.map(([name, { port, proto }]) => ({ name, port, protocol: proto })),
  };
  return { key: publishedKey(params.ip), lease: true, op: 'updateIfDifferent', value: formatPair(pair) };
}

function unmapped(text: string | null): string | undefined {
  const bytes = parseAddress(text ?? '');
  return bytes && formatAddress(isMapped(bytes) ? bytes.subarray(12) : bytes);
}

function unmarshal(key: string, data: string): object {
  try {
    const { mask, ip, hostIP, ...pair } = parseNamedPair(key, data);
    const found = {
      ...pair,
      ip: ip ?? null,
      hostIP: hostIP ?? null,
      mask: mask === undefined ? null : Buffer.from(mask).toString('hex'),
      isHost: mask === undefined,
      keyName: key,
    };
    return { ok: true, pair: found };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { ok: false, errorClass: error.code === 'KEY_MISMATCH' ? 'key-mismatch' : 'json' };
  }
}

function withoutErrorText({ error, ...rest }: Expect): object {
  return rest;
}
