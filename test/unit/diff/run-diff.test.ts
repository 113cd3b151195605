import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../../src/lib/diff/change-filter.ts';
import type { Findings } from '../../../src/lib/diff/judge.ts';
import type { Migration } from '../../../src/lib/diff/migrations.ts';
import { type DiffOptions, runDiff } from '../../../src/lib/diff/run-diff.ts';
import { parsePrefix } from '../../../src/lib/net/prefix.ts';
import { inputOf } from '../../support/diff-inputs.ts';
import { type EntryValue, entryValues, HEADER, type SnapshotParts } from '../../support/snapshot-lines.ts';

function entry(prefix: string, identity: number, more: Partial<EntryValue> = {}): EntryValue {
  const family = prefix.includes(':') ? 'ipv6' : 'ipv4';
  return { prefix, family, identity, encryptKey: 0, flags: more.tunnelEndpoint === undefined ? 0 : 2, ...more };
}

function diff(a: SnapshotParts, b: SnapshotParts, options: Partial<DiffOptions> = {}): Promise<Findings> {
  return runDiff(inputOf('a', a), inputOf('b', b), { settle: () => Promise.reject(new Error('not live')), ...options });
}

const words = (findings: Findings): string[] => [
  ...findings.identities.map(({ classes, relabelled }) => `${classes.join('+')} ${relabelled.identity}`),
  ...[...findings.entries()].map(({ classes, change }) => `${classes.join('+')} ${change.prefix}`),
];

describe('runDiff()', () => {
  it('op 21 a renumbered prefix with another label is one item', async () => {
    const findings = await diff(
      {
        identities: [{ identity: 16777219, labels: ['cidr:192.0.2.0/24', 'reserved:world'] }],
        entries: [entry('192.0.2.0/24', 16777219)],
      },
      {
        identities: [
          { identity: 16777223, labels: ['cidr:192.0.2.0/24', 'reserved:kube-apiserver', 'reserved:world'] },
        ],
        entries: [entry('192.0.2.0/24', 16777223)],
      },
    );
    expect(words(findings)).toEqual(['renumbered 192.0.2.0/24']);
    expect(findings.size).toBe(1);
  });

  it('op 22 a thousand identities that differ by the world split are one line and no finding', async () => {
    const identities = Array.from({ length: 1000 }, (_, i) => ({
      id: 16777217 + i,
      cidr: `cidr:10.${i >> 8}.${i & 255}.0/24`,
    }));
    const parts = (world: string, route: number): SnapshotParts => ({
      identities: identities.map(({ id, cidr }) => ({ identity: id, labels: [cidr, world] })),
      entries: [entry('0.0.0.0/0', route), ...identities.map(({ id, cidr }) => entry(cidr.slice(5), id))],
    });
    const split = await diff(parts('reserved:world', 2), parts('reserved:world-ipv4', 9));
    expect(words(split)).toEqual([]);
    expect(split.migrations).toEqual([{ migration: 'world-split', identities: 1000, entries: 1 }]);
    const united = await diff(parts('reserved:world-ipv4', 9), parts('reserved:world', 2));
    expect(united.migrations).toEqual(split.migrations);
    const wrong = await diff(parts('reserved:world', 2), parts('reserved:world-ipv6', 10));
    expect(words(wrong), 'IPv4 is never world-ipv6').toEqual(['renumbered 0.0.0.0/0']);
  });

  it('op 23 two nodes with other numbers and equal labels have no finding by labels', async () => {
    const labels = ['cidr:198.51.100.0/24', 'reserved:world-ipv4'];
    const a = { identities: [{ identity: 16777217, labels }], entries: [entry('198.51.100.0/24', 16777217)] };
    const b = { identities: [{ identity: 16777300, labels }], entries: [entry('198.51.100.0/24', 16777300)] };
    expect(words(await diff(a, b, { nodes: true }))).toEqual([]);
    expect(words(await diff(a, b))).toEqual(['renumbered 198.51.100.0/24']);
  });

  it('op 24 a lost CIDR label is a finding of its own, with the number kept or not', async () => {
    const parts = (identity: number, labels: string[]): SnapshotParts => ({
      identities: [{ identity, labels }],
      entries: [entry('10.0.0.0/8', identity)],
    });
    const before = parts(16777217, ['cidr:10.0.0.0/8', 'k8s:app=x']);
    expect(words(await diff(before, parts(16777217, ['k8s:app=x'])))).toEqual(['cidr-label-lost 16777217']);
    expect(words(await diff(before, parts(41234, ['k8s:app=x'])))).toEqual(['cidr-label-lost+renumbered 10.0.0.0/8']);
    expect(words(await diff(before, parts(16777217, ['cidr:10.0.0.0/9', 'k8s:app=x'])))).toEqual([
      'relabelled 16777217',
    ]);
  });

  it('names every class, and several of one entry in one item', async () => {
    const findings = await diff(
      {
        entries: [
          entry('10.0.0.1/32', 300, { tunnelEndpoint: '192.0.2.1', encryptKey: 3 }),
          entry('10.0.0.2/32', 300, { tunnelEndpoint: '192.0.2.1' }),
          entry('10.0.0.3/32', 300, { encryptKey: 3 }),
          entry('10.0.0.4/32', 300),
          entry('10.0.0.5/32', 300),
        ],
      },
      {
        entries: [
          entry('10.0.0.1/32', 301, { tunnelEndpoint: '192.0.2.2', encryptKey: 0 }),
          entry('10.0.0.2/32', 300),
          entry('10.0.0.3/32', 300),
          entry('10.0.0.4/32', 300, { flags: 1 }),
          entry('10.0.0.6/32', 300),
        ],
      },
    );
    expect(words(findings)).toEqual([
      'renumbered+retunnelled+rekeyed 10.0.0.1/32',
      'retunnelled 10.0.0.2/32',
      'rekeyed 10.0.0.3/32',
      'reflagged 10.0.0.4/32',
      'removed 10.0.0.5/32',
      'added 10.0.0.6/32',
    ]);
    expect(findings.counts).toEqual({
      'cidr-label-lost': 0,
      renumbered: 1,
      relabelled: 0,
      removed: 1,
      added: 1,
      retunnelled: 2,
      rekeyed: 2,
      reflagged: 1,
    });
    expect(findings.countOf(new Set(['rekeyed', 'removed']))).toBe(3);
  });

  it('takes a key that was replaced everywhere for a rotation, and nothing less', async () => {
    const keyed = (...keys: number[]): SnapshotParts => ({
      entries: keys.map((encryptKey, i) => entry(`10.0.0.${i}/32`, 300, { encryptKey })),
    });
    const rotated = await diff(keyed(3, 3, 0), keyed(4, 4, 0));
    expect(rotated.size).toBe(0);
    expect(rotated.migrations).toEqual([{ migration: 'key-replaced', from: 3, to: 4, entries: 2 }]);
    for (const [before, after, count] of [
      [keyed(3, 3, 0), keyed(4, 3, 0), 1],
      [keyed(3, 3, 0), keyed(4, 5, 0), 2],
      [keyed(3, 3, 0), keyed(0, 0, 0), 2],
      [keyed(0, 0, 0), keyed(3, 3, 3), 3],
    ] as const) {
      const findings = await diff(before, after);
      expect(findings.counts.rekeyed).toBe(count);
      expect(findings.migrations).toEqual([]);
    }
  });

  it('takes flags that one layout cannot have for a migration', async () => {
    const v1 = { header: { map: { ...HEADER.map, layout: '1.16' as const, flags: 1 } } };
    const before = {
      ...v1,
      entries: [entry('10.0.0.1/32', 300, { tunnelEndpoint: '192.0.2.1', flags: 0 }), entry('10.0.0.2/32', 300)],
    };
    const after = {
      entries: [
        entry('10.0.0.1/32', 300, { tunnelEndpoint: '192.0.2.1', flags: 10 }),
        entry('10.0.0.2/32', 300, { flags: 1 }),
      ],
    };
    const findings = await diff(before, after);
    expect(words(findings), 'skiptunnel is known to both').toEqual(['reflagged 10.0.0.2/32']);
    expect(findings.migrations).toEqual([{ migration: 'layout-flags', entries: 1, flags: 14 }]);
    const old = { header: { map: { ...HEADER.map, flags: 1 } }, entries: [entry('192.0.2.9/32', 6)] };
    const cluster = { entries: [entry('192.0.2.9/32', 6, { flags: 8 })] };
    expect((await diff(old, cluster)).size, 'remotecluster came with the read-only-for-programs flag').toBe(0);
    expect((await diff({ entries: old.entries }, cluster)).size).toBe(1);
  });

  it('reports another map on one machine once, and never of two machines', async () => {
    const map = { map: { ...HEADER.map, id: 190 } };
    expect((await diff({}, { header: map })).migrations).toEqual([{ migration: 'map-replaced', from: 189, to: 190 }]);
    expect((await diff({}, { header: { ...map, node: 'n2', machine: 'f'.repeat(32) } })).migrations).toEqual([]);
    expect((await diff({}, { header: { bootId: 'another' } })).migrations).toHaveLength(1);
    expect((await diff({}, {})).migrations).toEqual([]);
  });

  it('says nothing of an identity that no entry carries', async () => {
    const findings = await diff(
      { identities: [{ identity: 16777217, labels: ['cidr:10.0.0.0/8'] }] },
      { identities: [{ identity: 16777217, labels: ['cidr:10.0.0.0/9'] }] },
    );
    expect(words(findings)).toEqual([]);
  });

  it('counts the entries of a relabelled identity', async () => {
    const entries = [entry('10.0.0.0/24', 16777217), entry('10.0.1.0/24', 16777217), entry('10.0.2.0/24', 16777218)];
    const findings = await diff(
      { identities: [{ identity: 16777217, labels: ['fqdn:a.example'] }], entries },
      { identities: [{ identity: 16777217, labels: ['fqdn:b.example'] }], entries: entries.slice(1) },
    );
    expect(words(findings)).toEqual(['relabelled 16777217', 'removed 10.0.0.0/24']);
    expect(findings.identities[0]).toMatchObject({ entries: 1, example: '10.0.1.0/24' });
  });

  it('looks only at what the filter lets through', async () => {
    const a = { entries: [entry('10.0.0.1/32', 300), entry('10.0.1.1/32', 16777217), entry('10.0.2.1/32', 302)] };
    const b = { entries: [entry('10.0.0.1/32', 301), entry('10.0.1.1/32', 303)] };
    const only = async (filter: Partial<typeof EVERYTHING>) =>
      words(await diff(a, b, { filter: { ...EVERYTHING, ...filter } }));
    expect(await only({ within: [parsePrefix('10.0.0.0/23')] })).toHaveLength(2);
    expect(await only({ scopes: ['local'] })).toEqual(['renumbered 10.0.1.1/32']);
    expect(await only({ ignoreClasses: ['renumbered'] })).toEqual(['removed 10.0.2.1/32']);
    expect(await only({ ignoreWithin: [parsePrefix('10.0.2.0/24')] })).toHaveLength(2);
    expect(await only({ ignoreIdentities: [301] })).toHaveLength(2);
  });

  it('of a live map only counts what a second reading finds again', async () => {
    const before = inputOf('a', {
      entries: [entry('10.0.0.1/32', 300), entry('10.0.0.2/32', 300), entry('10.0.0.4/32', 300)],
    });
    const changed = [entry('10.0.0.1/32', 301), entry('10.0.0.2/32', 301), entry('10.0.0.3/32', 301)];
    const later = [entry('10.0.0.1/32', 301), entry('10.0.0.2/32', 302), entry('10.0.0.4/32', 300)];
    let waited = 0;
    const settle = async (): Promise<void> => void waited++;
    const findings = await runDiff(before, inputOf('live', { entries: changed }, { entries: later }), { settle });
    expect(words(findings)).toEqual(['renumbered 10.0.0.1/32']);
    expect(waited).toBe(1);
    const same = inputOf('live', { entries: changed }, { entries: changed });
    expect((await runDiff(inputOf('b', { entries: changed }), same, { settle })).size).toBe(0);
    expect(waited, 'nothing to confirm').toBe(1);
  });
});

/** Without the class `rekeyed`, and without what has no other. */
const withoutKeys = (all: readonly string[]): string[] =>
  all.flatMap((word) => {
    const [classes = '', subject = ''] = word.split(' ');
    const others = classes.split('+').filter((name) => name !== 'rekeyed');
    return others.length === 0 ? [] : [`${others.join('+')} ${subject}`];
  });

const isKeyReplacement = ({ migration }: Migration): boolean => migration === 'key-replaced';

describe('runDiff() of any snapshots', () => {
  const parts = entryValues.map((entries) => ({ entries }));

  it('finds nothing between a snapshot and itself', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (a) => {
        expect((await diff(a, a)).size).toBe(0);
        expect((await diff(a, a, { nodes: true })).size).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('finds the same the other way round, with removed and added exchanged', async () => {
    const mirror = (word: string): string =>
      word.replace(/removed|added/, (name) => (name === 'added' ? 'removed' : 'added'));
    await fc.assert(
      fc.asyncProperty(parts, parts, async (a, b) => {
        const there = await diff(a, b);
        const back = await diff(b, a);
        // That a key is gone everywhere, as after a rotation, holds in one direction only where the other key was there before.
        const isRotated = [there, back].some(({ migrations }) => migrations.some(isKeyReplacement));
        const compared = isRotated ? withoutKeys : (all: string[]) => all;
        expect(compared(words(back).map(mirror))).toEqual(compared(words(there)));
      }),
      {
        numRuns: 100,
        examples: [
          [
            { entries: [entry('::/0', 0, { encryptKey: 255 }), entry('::/5', 16777217, { encryptKey: 3 })] },
            { entries: [entry('::/5', 16777217, { encryptKey: 255 })] },
          ],
        ],
      },
    );
  });

  it('finds what a naive comparison finds', async () => {
    await fc.assert(
      fc.asyncProperty(parts, parts, async (a, b) => {
        const after = new Map(b.entries.map((value) => [value.prefix, value]));
        const before = new Map(a.entries.map((value) => [value.prefix, value]));
        const expected = new Map<string, string>();
        for (const prefix of new Set([...before.keys(), ...after.keys()])) {
          const x = before.get(prefix);
          const y = after.get(prefix);
          if (x === undefined) expected.set(prefix, 'added');
          else if (y === undefined) expected.set(prefix, 'removed');
          else if (x.identity !== y.identity) expected.set(prefix, 'renumbered');
          else if (x.tunnelEndpoint !== y.tunnelEndpoint) expected.set(prefix, 'retunnelled');
          else if (x.encryptKey !== y.encryptKey) expected.set(prefix, 'rekeyed');
          else if (x.flags !== y.flags) expected.set(prefix, 'reflagged');
        }
        const filter = { ...EVERYTHING, ignoreClasses: [] };
        const findings = await diff(a, b, { filter });
        const rotated = findings.migrations.some(isKeyReplacement);
        const seen = new Map([...findings.entries()].map(({ classes, change }) => [change.prefix, classes[0]]));
        // The world split and a rotation are the two rules that a comparison of single entries cannot know.
        for (const [prefix, name] of expected) {
          const x = before.get(prefix);
          const y = after.get(prefix);
          const worlds = [2, 9, 10].includes(x?.identity ?? 0) && [2, 9, 10].includes(y?.identity ?? 0);
          if (worlds || (rotated && name === 'rekeyed')) continue;
          expect(seen.get(prefix), prefix).toBe(name);
        }
        for (const prefix of seen.keys()) expect(expected.has(prefix), prefix).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
