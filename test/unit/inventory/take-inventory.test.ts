import { describe, expect, test } from 'vitest';
import { IncompleteError, NoEntryError } from '../../../src/lib/errors.ts';
import { CheckpointIndex } from '../../../src/lib/identity/checkpoint-index.ts';
import { parseIdentityQuery } from '../../../src/lib/inventory/identity-query.ts';
import { IdentityUse } from '../../../src/lib/inventory/identity-use.ts';
import { checkpointStore, KnownIdentities, stateStore } from '../../../src/lib/inventory/known-identities.ts';
import {
  type InventoryPorts,
  type InventoryQuery,
  takeInventory as takeLazily,
} from '../../../src/lib/inventory/take-inventory.ts';
import type { PolicyRule } from '../../../src/lib/policymap/policy-rule.ts';
import { emptyCheckpoint } from '../../../src/lib/state/checkpoint.ts';

type Entries = Readonly<Record<number, readonly string[]>>;

const label = (id: number, key: string, source: string) =>
  `{"id":${id},"labels":{"${key}":{"key":"${key}","source":"${source}"}}}`;

function known(...records: string[]): KnownIdentities {
  return new KnownIdentities([checkpointStore(CheckpointIndex.of(Buffer.from(`[${records.join(',')}]`), 'x'))]);
}

function use(entries: Entries, wanted: ReadonlySet<number>, incomplete?: string): IdentityUse {
  const counted = new IdentityUse((id) => wanted.has(id));
  for (const [id, prefixes] of Object.entries(entries))
    for (const prefix of prefixes) counted.add(Number(id), () => prefix);
  counted.incomplete = incomplete;
  return counted;
}

const TEN = label(16777217, '10.0.0.0/8', 'cidr');
const NODE = label(33554433, 'remote-node', 'reserved');
const MAP: Entries = {
  2: ['0.0.0.0/0'],
  16777217: ['10.0.0.0/8', '10.1.0.0/16'],
  16777300: ['192.0.2.7/32'],
  300: ['10.9.0.1/32'],
};

function ports(overrides: Partial<InventoryPorts> = {}): InventoryPorts {
  return {
    readUse: async (wanted) => use(MAP, wanted),
    readKnown: async () => known(TEN, NODE),
    readPolicy: async () => ({ rules: new Map(), problems: [] }),
    wait: async () => {},
    ...overrides,
  };
}

const query = (words: readonly string[] = [], only?: InventoryQuery['only']): InventoryQuery => ({
  ...parseIdentityQuery(words),
  only,
});

/** With the rows as a list. */
async function takeInventory(wanted: InventoryQuery, from: InventoryPorts) {
  const inventory = await takeLazily(wanted, from);
  return { ...inventory, rows: [...inventory.rows] };
}

async function numbers(words: readonly string[], only?: InventoryQuery['only'], overrides?: Partial<InventoryPorts>) {
  const { rows } = await takeInventory(query(words, only), ports(overrides));
  return rows.map(({ identity }) => identity);
}

describe('takeInventory() of everything', () => {
  test('lists reserved numbers, those of the checkpoint and those of the map, with counts', async () => {
    const { rows, failures } = await takeInventory(query(), ports());
    const counts = rows.filter(({ entries }) => entries !== 0).map(({ identity, entries }) => [identity, entries]);
    expect(counts).toEqual([
      [2, 1],
      [300, 1],
      [16777217, 2],
      [16777300, 1],
    ]);
    expect(rows.map(({ identity }) => identity)).toContain(33554433);
    expect(rows.find(({ identity }) => identity === 2)).toMatchObject({
      name: 'world',
      labels: { labelsFrom: 'reserved' },
    });
    expect(rows.every(({ prefixes }) => prefixes === undefined)).toBe(true);
    expect(failures).toEqual([]);
  });

  test('counts are null where no map could be read', async () => {
    const { rows } = await takeInventory(query(), ports({ readUse: async () => null }));
    expect(rows.find(({ identity }) => identity === 16777217)?.entries).toBeNull();
  });

  test('a map not read to its end is a failure beside the rows', async () => {
    const readUse: InventoryPorts['readUse'] = async (wanted) =>
      use(MAP, wanted, 'Cannot list all of map x: it changed');
    const { rows, failures } = await takeInventory(query(), ports({ readUse }));
    expect(rows.length).toBeGreaterThan(4);
    expect(failures).toEqual([expect.any(IncompleteError)]);
  });
});

describe('takeInventory() of words', () => {
  test('numbers, names and labels come with their prefixes', async () => {
    const { rows } = await takeInventory(query(['16777217', 'world', 'reserved:remote-node']), ports());
    expect(rows.map(({ identity, prefixes }) => [identity, prefixes])).toEqual([
      [2, ['0.0.0.0/0']],
      [6, []],
      [7, []],
      [16777217, ['10.0.0.0/8', '10.1.0.0/16']],
      [33554433, []],
    ]);
  });

  test('a cidr finds every number whose cidr lies within', async () => {
    expect(await numbers(['cidr:0.0.0.0/0'])).toEqual([16777217]);
    expect(await numbers(['cidr:10.0.0.0/7'])).toEqual([16777217]);
  });

  test('a well-known number is explained although nobody uses it', async () => {
    const { rows, failures } = await takeInventory(query(['kube-dns']), ports());
    expect(rows.map(({ identity, name, entries }) => [identity, name, entries])).toEqual([
      [102, 'kube-dns', 0],
      [110, 'kube-dns', 0],
    ]);
    expect(failures).toEqual([]);
  });

  test('op 14 a global number names its cluster, a local one its index', async () => {
    const readUse: InventoryPorts['readUse'] = async (wanted) =>
      use({ 16379101: ['10.9.9.9/32'], 33156317: ['10.9.9.8/32'] }, wanted);
    const { rows } = await takeInventory(query(['16379101', '33156317']), ports({ readUse }));
    expect(rows).toMatchObject([
      { identity: 16379101, clusterId: 249 },
      { identity: 33156317, index: 16379101 },
    ]);
  });

  test('what is nowhere is a failure beside what was found', async () => {
    const { rows, failures } = await takeInventory(query(['16777217', '16777999', 'k8s:app']), ports());
    expect(rows).toHaveLength(1);
    expect(failures.map(({ message }) => message)).toEqual([
      'Cannot find identity 16777999: it is in no checkpoint and not in the map',
      'Cannot find identity k8s:app: no checkpoint has such labels',
    ]);
    const none = await takeInventory(query(['k8s:app=x']), ports());
    expect(none.failures).toEqual([expect.any(NoEntryError)]);
  });

  test('policy is asked for those numbers only, and for all without words', async () => {
    const asked: (readonly number[] | undefined)[] = [];
    const rule: PolicyRule = { endpoint: 7, identity: 16777217, direction: 'egress', action: 'allow' };
    const readPolicy: InventoryPorts['readPolicy'] = async (ids) => {
      asked.push(ids && [...ids]);
      return { rules: new Map([[16777217, [rule]]]), problems: ['Cannot open map p: no permission'] };
    };
    const { rows, failures } = await takeInventory({ ...query(['16777217']), policy: true }, ports({ readPolicy }));
    expect(rows[0]?.policy).toEqual([rule]);
    expect(failures).toEqual([expect.any(IncompleteError)]);
    await takeInventory({ ...query(), policy: true }, ports({ readPolicy }));
    expect(asked).toEqual([[16777217], undefined]);
  });
});

test('takeInventory() warns of a cidr label that no policy can select', async () => {
  const readKnown = async () => known(label(16777217, 'bogus', 'cidr'));
  const { rows } = await takeInventory(query(['16777217']), ports({ readKnown }));
  expect(rows).toMatchObject([{ warnings: ['bad-cidr-label'] }]);
});

test('stateStore() says where our own state has its labels from', () => {
  const labels = ['cidr:10.0.0.0/8'];
  const { resolver } = new KnownIdentities([
    stateStore({
      identities: [
        { identity: 16777217, labels, labelsFrom: 'guessed', prefixes: [] },
        { identity: 16777218, labels, prefixes: [] },
      ],
    }),
  ]);
  expect(resolver.resolve(16777217)).toEqual({ labels, labelsFrom: 'guessed' });
  expect(resolver.resolve(16777218)).toEqual({ labels, labelsFrom: 'listen' });
});

describe('takeInventory() of orphans', () => {
  test('op 39 a local number that no checkpoint knows in two readings is one, a global number never', async () => {
    const waits: number[] = [];
    const wait = async (candidates: number) => void waits.push(candidates);
    const { rows } = await takeInventory(query([], 'orphans'), ports({ wait }));
    expect(rows).toMatchObject([{ identity: 16777300, prefixes: ['192.0.2.7/32'] }]);
    expect(waits).toEqual([1]);
  });

  test('a number whose checkpoint was only late is none, nor one that left the map', async () => {
    let reading = 0;
    const readKnown = async () => (++reading === 1 ? known(TEN) : known(TEN, label(16777300, '192.0.2.7/32', 'cidr')));
    expect(await numbers([], 'orphans', { readKnown })).toEqual([]);
    let walk = 0;
    const readUse: InventoryPorts['readUse'] = async (wanted) => use(++walk === 1 ? MAP : {}, wanted);
    expect(await numbers([], 'orphans', { readUse })).toEqual([]);
  });

  test('nothing to confirm is not waited for', async () => {
    const wait = async () => expect.unreachable();
    expect(await numbers([], 'orphans', { wait, readUse: async (wanted) => use({ 2: ['::/0'] }, wanted) })).toEqual([]);
  });

  test('our own state counts as a checkpoint, even for numbers without labels', async () => {
    const state = emptyCheckpoint('/sys/fs/bpf/x', '2026-01-01T00:00:00.000Z', 'boot');
    const store = stateStore({ ...state, identities: [{ identity: 16777300, prefixes: [] }] });
    expect(await numbers([], 'orphans', { readKnown: async () => new KnownIdentities([store]) })).toEqual([16777217]);
  });

  test('words narrow the list', async () => {
    expect(await numbers(['16777217'], 'orphans')).toEqual([]);
    expect(await numbers(['16777300'], 'orphans')).toEqual([16777300]);
  });
});

describe('takeInventory() of unused', () => {
  test('lists numbers of the checkpoints that have no entry', async () => {
    expect(await numbers([], 'unused')).toEqual([33554433]);
  });

  test('does not claim anything after an incomplete walk', async () => {
    const readUse: InventoryPorts['readUse'] = async (wanted) =>
      use({}, wanted, 'Cannot list all of map x: it changed');
    await expect(takeInventory(query([], 'unused'), ports({ readUse }))).rejects.toThrow(IncompleteError);
  });
});

describe('parseIdentityQuery()', () => {
  test('tells numbers, names and labels apart', () => {
    const parsed = parseIdentityQuery(['16777217', '0x1000001', 'host', 'unknown', 'app=x', '$world']);
    expect(parsed.ids).toEqual([16777217, 1, 0]);
    expect(parsed.selectors.map(({ text }) => text)).toEqual(['app=x', '$world']);
  });

  test.each([
    ['4294967296', 'larger than 4294967295 (32 bits)'],
    ['k8s:', 'it has no key'],
    ['', 'it has no key'],
    ['nobody', 'no number is called that'],
    ['12ab', 'no number is called that'],
  ])('refuses %j', (word, message) => {
    expect(() => parseIdentityQuery([word])).toThrow(message);
  });

  test('refuses one key from two sources', () => {
    expect(() => parseIdentityQuery(['k8s:app=x', 'container:app=x'])).toThrow('a label set has each key once');
  });
});
