import { describe, expect, it } from 'vitest';
import type { Findings } from '../../src/lib/diff/judge.ts';
import { runDiff } from '../../src/lib/diff/run-diff.ts';
import { inputOf } from '../support/diff-inputs.ts';
import type { EntryValue, SnapshotParts } from '../support/snapshot-lines.ts';
import { type ClusterOptions, nodeSnapshot } from '../support/two-nodes.ts';

const CLUSTERS: readonly (readonly [name: string, options: ClusterOptions])[] = [
  ['plain', {}],
  ['underlay IPv6', { underlay: 'ipv6' }],
  ['WireGuard', { podKey: 255 }],
  ['IPsec with node encryption', { podKey: 3, nodeKey: 3 }],
  ['API server on the first node', { controlPlane: true }],
  ['cluster mesh', { mesh: true }],
  ['node selection', { nodeSelection: true }],
  ['all of it', { underlay: 'ipv6', podKey: 3, nodeKey: 3, controlPlane: true, mesh: true }],
];

function byLabels(a: SnapshotParts, b: SnapshotParts): Promise<Findings> {
  return runDiff(inputOf('n1', a), inputOf('n2', b), { nodes: true, settle: async () => {} });
}

/** The second node's snapshot with one entry made different. */
function changed(prefix: string, change: Partial<EntryValue>, options: ClusterOptions = {}): SnapshotParts {
  const parts = nodeSnapshot(1, options);
  const entries = parts.entries?.map((entry) => (entry.prefix === prefix ? { ...entry, ...change } : entry)) ?? [];
  expect(entries, prefix).not.toEqual(parts.entries);
  return { ...parts, entries };
}

describe('a healthy dual-stack cluster of two nodes, compared by labels', () => {
  it.each(CLUSTERS)('%s: no finding, in both directions', async (_name, options) => {
    for (const [a, b] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const findings = await byLabels(nodeSnapshot(a, options), nodeSnapshot(b, options));
      expect([...findings.entries()]).toEqual([]);
      expect(findings.migrations).toEqual([]);
      // Each node has one prefix of its own policies; three are shared under other numbers.
      expect(findings.notes.local).toBe(2);
      expect(findings.notes.unlabelled).toBe(0);
      expect(findings.notes.own).toBeGreaterThan(10);
    }
  });

  it('by number the same two nodes differ nearly everywhere', async () => {
    const findings = await runDiff(inputOf('n1', nodeSnapshot(0)), inputOf('n2', nodeSnapshot(1)), {
      settle: async () => {},
    });
    expect(findings.size).toBeGreaterThan(20);
  });

  it.each([
    ['a pod with another identity', '10.12.0.7/32', { identity: 41299 }, 'renumbered'],
    ['a pod behind the wrong node', '10.12.0.7/32', { tunnelEndpoint: '192.0.2.77' }, 'retunnelled'],
    ['a node taken for the world', '192.0.2.10/32', { identity: 9 }, 'renumbered'],
    ['a pod CIDR behind a stranger', '10.12.0.0/24', { tunnelEndpoint: '192.0.2.77' }, 'added'],
    ['a skipped tunnel', '10.12.0.7/32', { flags: 3 }, 'reflagged'],
    ['a key on one side', '10.12.0.7/32', { encryptKey: 5 }, 'rekeyed'],
  ] as const)('sees %s', async (_what, prefix, change, expected) => {
    const options = expected === 'rekeyed' ? { podKey: 3 } : {};
    const findings = await byLabels(nodeSnapshot(0, options), changed(prefix, change, options));
    const found = [...findings.entries()].map(({ classes, change: { prefix: at } }) => `${classes[0]} ${at}`);
    expect(found).toEqual([`${expected} ${prefix}`]);
  });

  it('sees a shared prefix with other labels, and says where labels are missing', async () => {
    const other = nodeSnapshot(1);
    const identities = other.identities?.map((item) =>
      item.labels[0] === 'fqdn:api.example.com' ? { ...item, labels: ['fqdn:other.example.com'] } : item,
    );
    const findings = await byLabels(nodeSnapshot(0), { ...other, identities: identities ?? [] });
    expect([...findings.entries()].map(({ classes, change }) => `${classes} ${change.prefix}`)).toEqual([
      'relabelled 203.0.113.7/32',
    ]);
    const blind = await byLabels(nodeSnapshot(0), { ...other, identities: [] });
    expect(blind.size).toBe(0);
    expect(blind.notes.unlabelled).toBe(3);
  });

  it('sees labels that differ under one number', async () => {
    const a = nodeSnapshot(0);
    const b = {
      ...nodeSnapshot(0),
      identities: a.identities?.map((item) => ({ ...item, labels: ['cidr:192.0.2.0/30'] })) ?? [],
    };
    expect((await byLabels(a, b)).counts.relabelled).toBe(4);
  });
});
