import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ipcache } from '../../../src/lib/cache/ipcache.ts';
import type { CacheEntry, IpcacheEvent } from '../../../src/lib/cache/listener.ts';
import { lookupAddress } from '../../../src/lib/cache/lookup.ts';
import { INFO_KINDS } from '../../../src/lib/cache/resource-info.ts';
import { CachingAllocator } from '../../../src/lib/identity/caching-allocator.ts';
import { formatLabel } from '../../../src/lib/identity/label.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../../../src/lib/identity/options.ts';
import { containsPrefix, parsePrefix } from '../../../src/lib/net/prefix.ts';
import { CacheModel, type ModelValue } from '../../support/cache-model.ts';

const PREFIXES = [
  '0.0.0.0/0',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.0.0/24',
  '10.1.0.0/32',
  '10.1.0.1/32',
  '10.1.0.1/32@7',
  '10.1.0.0/16@7',
  'fd00::/8',
  'fd00::1/128',
];
const KEYS = ['10.1.0.1', '10.1.0.1/32', '10.1.0.1', '10.1.0.1/32', '10.1.0.0', '10.1.0.0/24', '10.1.0.1@7', 'fd00::1'];
const RESOURCES = ['cnp/a/b', 'node//n1', 'daemon//restored'];
const OVERRIDING = 'daemon//override';
const LABELS = [
  'cidr:10.0.0.0/8',
  'cidr:10.1.0.0/16',
  'cidrgroup:team=red',
  'cidrgroup:team=blue',
  'fqdn:x.io',
  'node:zone=a',
  'reserved:host',
  'reserved:remote-node',
  'reserved:kube-apiserver',
  'reserved:health',
  'reserved:world-ipv4',
];
const NODES = new Map([
  [1, 'host'],
  [6, 'remote-node'],
  [7, 'kube-apiserver'],
]);
const FIRST_LOCAL = 16777217;

const source = fc.constantFrom('kvstore', 'kvstore', 'k8s', 'generated');
const host = fc.constantFrom('', '', '192.0.2.1');
const direct = fc.record({
  source,
  owner: fc.constantFrom('', '', 'east'),
  identity: fc.constantFrom(1000, 1000, 1001),
  host,
  key: fc.constantFrom(0, 0, 3),
  flags: fc.constantFrom(0, 0, 8),
});
const info = fc.record(
  {
    labels: fc.uniqueArray(fc.constantFrom(...LABELS), {
      maxLength: 3,
      selector: (label) => label.replace(/^[^:]*:/, '').replace(/=.*/, ''),
    }),
    tunnelPeer: host,
    encryptKey: fc.constantFrom(0, 3, 4),
    endpointFlags: fc.constantFrom(0, 1, 8),
    requestedIdentity: fc.constantFrom(FIRST_LOCAL + 2, FIRST_LOCAL + 40, FIRST_LOCAL + 40),
  },
  { requiredKeys: [] },
);
// Some far more often than others, so that changes meet on one prefix.
const prefix = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...PREFIXES) },
  { weight: 1, arbitrary: fc.constantFrom('10.1.0.0/24', '10.1.0.1/32') },
);
const resource = fc.constantFrom(...RESOURCES);
const withheld = fc.constantFrom(FIRST_LOCAL, FIRST_LOCAL + 40);

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant('upsert' as const), key: fc.constantFrom(...KEYS), value: direct }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('delete' as const),
      key: fc.constantFrom(...KEYS),
      value: direct,
      isExpecting: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ op: fc.constant('upsertMetadata' as const), prefix, resource, source, info }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('override' as const),
      prefix,
      resource: fc.constant(OVERRIDING),
      source,
      label: fc.constantFrom('cidrgroup:special', 'fqdn:o', 'reserved:health'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('removeMetadata' as const),
      prefix,
      resource: fc.constantFrom(...RESOURCES, OVERRIDING),
    }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('inject' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constantFrom('withhold' as const, 'unwithhold' as const), id: withheld }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

class Run {
  readonly allocator: CachingAllocator;
  readonly cache: Ipcache;
  readonly model: CacheModel;
  readonly #told = new Map<string, CacheEntry>();
  /** Withheld number → the labels it has stood for since it was withheld. */
  readonly #meanings = new Map<number, string>();

  constructor(matchesNodes: boolean) {
    const options = { ...DEFAULT_IDENTITY_OPTIONS, policyCidrMatchMode: matchesNodes ? ['nodes'] : [] };
    this.allocator = new CachingAllocator({ options });
    this.cache = new Ipcache({ allocator: this.allocator });
    this.model = new CacheModel(matchesNodes);
    this.cache.addListener({ onIpcacheEvent: (event) => this.#onEvent(event) });
  }

  do(operation: Operation): void {
    switch (operation.op) {
      case 'upsert': {
        const { key, value } = operation;
        const { identity, source, owner, host, key: encryptKey, flags } = value;
        const hostIP = host === '' ? undefined : host;
        this.cache.upsert(key, { identity, source, hostIP, encryptKey, endpointFlags: flags }, { owner });
        this.model.upsert(key, owner, { who: identity, source, host, key: encryptKey, flags });
        break;
      }
      case 'delete': {
        const { key, value, isExpecting } = operation;
        const expectIdentity = isExpecting ? value.identity : undefined;
        this.cache.delete(key, { source: value.source, owner: value.owner, expectIdentity });
        this.model.delete(key, value.owner, value.source, expectIdentity);
        break;
      }
      case 'upsertMetadata': {
        const { prefix, resource, source, info } = operation;
        const { labels, ...rest } = info;
        const given = labels === undefined ? rest : { ...rest, labels: Labels.parse(labels) };
        if (Object.keys(given).length === 0) return;
        this.cache.upsertMetadata([{ prefix: parsePrefix(prefix), resource, source, info: given }]);
        this.model.upsertMetadata(prefix, resource, source, info);
        break;
      }
      case 'override': {
        const { prefix, resource, source, label } = operation;
        this.cache.overrideIdentity({ prefix: parsePrefix(prefix), resource, source, labels: Labels.parse([label]) });
        this.model.upsertMetadata(prefix, resource, source, { labels: [label], override: true });
        break;
      }
      case 'removeMetadata': {
        const { prefix, resource } = operation;
        this.cache.removeMetadata([{ prefix: parsePrefix(prefix), resource, what: INFO_KINDS }]);
        this.model.removeMetadata(prefix, resource);
        break;
      }
      case 'inject':
        expect(this.cache.injectNow()?.error).toBeUndefined();
        this.model.inject();
        break;
      case 'withhold':
        this.allocator.withhold([numericIdentity(operation.id)]);
        break;
      case 'unwithhold':
        this.allocator.unwithhold([numericIdentity(operation.id)]);
        this.#meanings.delete(operation.id);
        break;
    }
  }

  check(): void {
    const seen = new Map<string, CacheEntry>();
    this.cache.replay({ onIpcacheEvent: ({ prefix, entry }) => seen.set(prefix, entry) });
    const wanted = [...this.model.seen()].sort(byKey);
    expect([...seen].map(([prefix, entry]): [string, ModelValue] => [prefix, this.#plain(entry)]).sort(byKey)).toEqual(
      wanted,
    );
    expect(inMap(this.#told), 'events replayed give the unshadowed cache').toEqual(inMap(seen));
    this.#checkReferences();
    this.#checkMeanings();
    for (const address of ['10.1.0.0', '10.1.0.1', '10.1.9.9', 'fd00::1', '192.0.2.1'])
      this.#checkLookup(address, wanted);
  }

  #onEvent(event: IpcacheEvent): void {
    const before = this.#told.get(event.prefix);
    if (event.kind === 'delete') {
      expect(before, 'a delete of what nobody was told').toBeDefined();
      this.#told.delete(event.prefix);
      return;
    }
    expect(event.old === undefined, 'old is there exactly when the prefix was').toBe(before === undefined);
    const isChange =
      before === undefined || mapPart(before) !== mapPart(event.entry) || event.old?.source !== event.entry.source;
    expect(isChange, 'an event without a change').toBe(true);
    this.#told.set(event.prefix, event.entry);
  }

  /** Numbers of the metadata as the labels they stand for; those of direct owners stay numbers. */
  #plain(entry: CacheEntry): ModelValue {
    const { identity, source, hostIP = '', encryptKey, endpointFlags } = entry;
    const isDirect = [1000, 1001].includes(identity);
    return {
      who: isDirect ? identity : this.#who(identity),
      source,
      host: hostIP,
      key: encryptKey,
      flags: endpointFlags,
    };
  }

  #who(identity: number): string {
    const fixed = NODES.get(identity);
    if (fixed !== undefined) return fixed;
    const labels = this.allocator.lookupById(identity)?.labels ?? Labels.EMPTY;
    return [...labels].map(formatLabel).join(' ');
  }

  #checkReferences(): void {
    const users = this.model.users();
    for (const [labels, count] of users) {
      const identity = this.allocator.lookup(Labels.parse(labels.split(' ')));
      if (identity !== undefined && identity.refCount > 0) expect(identity.refCount).toBe(count);
    }
    for (const { labels, refCount } of this.allocator.identities()) {
      expect(users.get([...labels].map(formatLabel).join(' ')), 'references equal users').toBe(refCount);
    }
  }

  #checkMeanings(): void {
    for (const { id, labels } of this.allocator.identities()) {
      if (!this.allocator.local.withheld.has(id)) continue;
      const before = this.#meanings.get(id) ?? labels.sortedList;
      expect(labels.sortedList, `${id} is withheld and got a second meaning`).toBe(before);
      this.#meanings.set(id, before);
    }
  }

  #checkLookup(text: string, seen: readonly (readonly [string, ModelValue])[]): void {
    const address = parsePrefix(text);
    const [best] = seen
      .filter(([prefix]) => containsPrefix(parsePrefix(prefix), address))
      .sort(([a], [b]) => parsePrefix(b).length - parsePrefix(a).length);
    const match = lookupAddress(this.cache, address.address);
    expect(match && this.#plain(match.entry)).toEqual(best?.[1]);
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

function inMap(entries: ReadonlyMap<string, CacheEntry>): (readonly [string, string])[] {
  return [...entries].map(([prefix, entry]) => [prefix, mapPart(entry)] as const).sort(byKey);
}

function mapPart({ identity, hostIP = '', encryptKey, endpointFlags }: CacheEntry): string {
  return [identity, hostIP, encryptKey, endpointFlags].join(' ');
}

test('Ipcache is what a slow and obvious model says, after every step', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(operation, { maxLength: 60, size: 'max' }), (matchesNodes, operations) => {
      const run = new Run(matchesNodes);
      for (const operation of operations) {
        run.do(operation);
        run.check();
      }
    }),
    { numRuns: 120 },
  );
}, 120_000);
