import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineFormat } from '../../../src/lib/cli/line-format.ts';
import type { Findings } from '../../../src/lib/diff/judge.ts';
import { runDiff } from '../../../src/lib/diff/run-diff.ts';
import { containsPrefix, parsePrefix } from '../../../src/lib/net/prefix.ts';
import { visitRows } from '../../../src/lib/snapshot/read-rows.ts';
import { Redactor } from '../../../src/lib/snapshot/redactor.ts';
import { convertedContent } from '../../../src/lib/snapshot/snapshot-content.ts';
import { openSnapshot } from '../../../src/lib/snapshot/snapshot-reader.ts';
import { writeSnapshot } from '../../../src/lib/snapshot/write-snapshot.ts';
import { entryValues, type SnapshotParts, snapshotText } from '../../support/snapshot-lines.ts';
import { NODES, nodeSnapshot } from '../../support/two-nodes.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
const bytesOf = (text: string) =>
  async function* () {
    yield Buffer.from(text);
  };

/** The text of a snapshot after redaction with a redactor of its own. */
async function redacted(text: string, key = KEY): Promise<string> {
  await using reader = await openSnapshot('original', bytesOf(text));
  const parts: Buffer[] = [];
  const content = await convertedContent(reader, lineFormat, new Redactor(key));
  await writeSnapshot(content, (bytes) => void parts.push(Buffer.from(bytes)));
  return Buffer.concat(parts).toString();
}

async function prefixesOf(text: string): Promise<string[]> {
  await using reader = await openSnapshot('text', bytesOf(text));
  const prefixes: string[] = [];
  await visitRows(reader, (row) => prefixes.push(row.prefixText()));
  return prefixes;
}

function compare(a: string, b: string, nodes: boolean): Promise<Findings> {
  const input = (text: string) => ({ label: 'text', live: false, open: () => openSnapshot('text', bytesOf(text)) });
  return runDiff(input(a), input(b), { nodes, settle: async () => {} });
}

/** Findings as values, with every name replaced; sorted, as other addresses have another order. */
function shown(findings: Findings, redactor?: Redactor): unknown[] {
  const prefix = (text: string) => redactor?.prefix(text) ?? text;
  const side = (value?: { readonly identity: number; readonly tunnelEndpoint?: string }) =>
    value && {
      ...value,
      ...(value.tunnelEndpoint && { tunnelEndpoint: redactor?.address(value.tunnelEndpoint) ?? value.tunnelEndpoint }),
    };
  const labels = (list: readonly string[]) => redactor?.labels(list) ?? list;
  return [
    ...findings.identities.map(({ classes, relabelled: { identity, before, after }, entries }) => ({
      classes,
      identity,
      before: labels(before),
      after: labels(after),
      entries,
    })),
    ...[...findings.entries()].map(({ classes, change }) => ({
      classes,
      prefix: prefix(change.prefix),
      before: side(change.before),
      after: side(change.after),
    })),
    findings.counts,
    findings.notes,
    findings.migrations,
  ]
    .map((item) => JSON.stringify(item))
    .sort();
}

const SECRETS: SnapshotParts = {
  header: { node: 'node-alpha', cluster: 'secret-cluster' },
  identities: [
    { identity: 16777217, labels: ['cidr:198.51.100.0/24', 'reserved:world-ipv4'] },
    { identity: 16777218, labels: ['cidr:2001-db8-77--0/48', 'reserved:world-ipv6'] },
    { identity: 16777219, labels: ['fqdn:*.internal.example.com', 'fqdn:api.internal.example.com'] },
    { identity: 16777220, labels: ['cidrgroup:io.cilium.policy.cidrgroupname/partner-acme', 'k8s:team=payments'] },
    {
      identity: 33554433,
      labels: [
        'k8s:io.kubernetes.pod.namespace=shop',
        'node:kubernetes.io/hostname=node-alpha',
        'reserved:remote-node',
      ],
    },
  ],
  entries: [
    { prefix: '0.0.0.0/0', family: 'ipv4', identity: 9, encryptKey: 0, flags: 0 },
    { prefix: '198.51.100.0/24', family: 'ipv4', identity: 16777217, encryptKey: 0, flags: 0 },
    {
      prefix: '198.51.100.7/32',
      family: 'ipv4',
      identity: 41234,
      tunnelEndpoint: '203.0.113.40',
      encryptKey: 3,
      flags: 2,
    },
    { prefix: '203.0.113.40/32', family: 'ipv4', identity: 6, encryptKey: 0, flags: 0 },
    { prefix: '::/0', family: 'ipv6', identity: 10, encryptKey: 0, flags: 0 },
    {
      prefix: '2001:db8:77::/48',
      family: 'ipv6',
      identity: 16777218,
      tunnelEndpoint: '2001:db8:ff::9',
      encryptKey: 0,
      flags: 6,
    },
  ],
};

describe('redaction of a snapshot', () => {
  it('leaves nothing that names anybody', async () => {
    const original = snapshotText(SECRETS);
    const text = await redacted(original);
    const originals = [
      ...(original.match(/\d+\.\d+\.\d+\.\d+/g) ?? []).filter((address) => address !== '0.0.0.0'),
      ...(original.match(/2001[:-]db8[0-9a-f:-]*/g) ?? []),
      '2001',
      'db8',
      'node-alpha',
      'secret-cluster',
      'internal',
      'example',
      'partner',
      'acme',
      'payments',
      'shop',
      '0123456789abcdef',
      '3fa85f64',
    ];
    expect(originals.length).toBeGreaterThan(15);
    for (const word of originals) {
      expect(original).toContain(word);
      expect(text.toLowerCase(), word).not.toContain(word);
    }
  });

  it('keeps what is needed to find a fault', async () => {
    const lines = (await redacted(snapshotText(SECRETS)))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ redacted: true, kernel: '6.18.44', map: { id: 189, layout: 'v2' } });
    const entries = lines.filter((line) => 'prefix' in line);
    expect(entries.map(({ prefix }) => prefix.split('/')[1])).toEqual(
      expect.arrayContaining(['0', '24', '32', '32', '0', '48']),
    );
    expect(entries.map(({ prefix }) => prefix)).toEqual(expect.arrayContaining(['0.0.0.0/0', '::/0']));
    expect(entries.map(({ identity }) => identity).sort()).toEqual(
      SECRETS.entries?.map(({ identity }) => identity).sort(),
    );
    const tunnel = entries.find(({ identity }) => identity === 41234).tunnelEndpoint;
    expect(entries.find(({ identity }) => identity === 6).prefix, 'the tunnel leads to the node').toBe(`${tunnel}/32`);
    const local = entries.find(({ identity }) => identity === 16777217).prefix;
    const labels = new Map(lines.filter((line) => 'labels' in line).map((line) => [line.identity, line.labels]));
    expect(labels.get(16777217), 'the label says the entry').toEqual([`cidr:${local}`, 'reserved:world-ipv4']);
    expect(labels.get(16777219)).toHaveLength(2);
    expect(labels.get(33554433)?.map((label: string) => label.split('=')[0])).toEqual([
      'k8s:io.kubernetes.pod.namespace',
      'node:kubernetes.io/hostname',
      'reserved:remote-node',
    ]);
    const hostname = labels.get(33554433)?.[1].split('=')[1];
    expect(hostname, 'a label value that is the name of the node').toBe(lines[0].node);
  });

  it('keeps every relation of prefixes', async () => {
    await fc.assert(
      fc.asyncProperty(entryValues, async (entries) => {
        const redactor = new Redactor(KEY);
        const expected = entries.map(({ prefix }) => redactor.prefix(prefix));
        expect((await prefixesOf(await redacted(snapshotText({ entries })))).sort()).toEqual([...expected].sort());
        for (const [i, a] of entries.entries()) {
          for (const [j, b] of entries.entries()) {
            const before = containsPrefix(parsePrefix(a.prefix), parsePrefix(b.prefix));
            const after = containsPrefix(parsePrefix(expected[i] ?? ''), parsePrefix(expected[j] ?? ''));
            expect(after, `${a.prefix} ${b.prefix}`).toBe(before);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is the same for one key and another for another', async () => {
    const text = snapshotText(nodeSnapshot(0));
    expect(await redacted(text)).toBe(await redacted(text));
    expect(await redacted(text)).not.toBe(await redacted(text, KEY.slice().reverse()));
    expect(NODES[0].name).toBe('n1');
  });

  it.each([
    ['two nodes by labels', nodeSnapshot(0), nodeSnapshot(1), true],
    ['two nodes by number', nodeSnapshot(0), nodeSnapshot(1), false],
    [
      'two nodes with faults',
      nodeSnapshot(0, { podKey: 3 }),
      { ...nodeSnapshot(1, { podKey: 3 }), identities: SECRETS.identities ?? [] },
      true,
    ],
    [
      'relabelled identities',
      SECRETS,
      { ...SECRETS, identities: SECRETS.identities?.map((item) => ({ ...item, labels: ['k8s:team=other'] })) ?? [] },
      false,
    ],
  ])('diff of redacted %s is the redacted diff', async (_what, a, b, nodes) => {
    const [before, after] = [snapshotText(a), snapshotText(b)];
    const found = await compare(before, after, nodes);
    expect(shown(await compare(await redacted(before), await redacted(after), nodes))).toEqual(
      shown(found, new Redactor(KEY)),
    );
    if (!nodes) expect(found.size).toBeGreaterThan(1);
  });

  it('diff of any redacted snapshots is the redacted diff', async () => {
    await fc.assert(
      fc.asyncProperty(entryValues, entryValues, async (a, b) => {
        const [before, after] = [snapshotText({ entries: a }), snapshotText({ entries: b })];
        const found = shown(await compare(before, after, false), new Redactor(KEY));
        expect(shown(await compare(await redacted(before), await redacted(after), false))).toEqual(found);
      }),
      { numRuns: 60 },
    );
  });
});
