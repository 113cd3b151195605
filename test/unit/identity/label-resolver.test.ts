import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allocatorLabels } from '../../../src/lib/identity/allocator-labels.ts';
import { LabelResolver } from '../../../src/lib/identity/label-resolver.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ipc-labels-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const FILE =
  '[{"id":16777217,"labels":{"world-ipv4":{"key":"world-ipv4","source":"reserved"},"*.a.io":{"key":"*.a.io","source":"fqdn"}}},' +
  '{"id":1000,"labels":{"app":{"key":"app","source":"k8s"}}}]\n';

function write(text: string): string {
  const path = join(directory, 'local_allocator_state.json');
  writeFileSync(path, text);
  return path;
}

describe('LabelResolver', () => {
  test('knows fixed numbers without any source', () => {
    const { resolve } = new LabelResolver([]);
    expect(resolve(1)).toEqual({ labels: ['reserved:host'], labelsFrom: 'reserved' });
    expect(resolve(7)).toEqual({ labels: ['reserved:kube-apiserver', 'reserved:remote-node'], labelsFrom: 'reserved' });
    expect([0, 15, 104, 200, 256, 16777217].map(resolve)).toEqual(Array(6).fill(undefined));
  });

  test('asks its sources in order and says which one knew', () => {
    const source = (from: 'allocator' | 'snapshot', known: number) => ({
      from,
      lookup: (id: number) => (id <= known ? Labels.parse([`k8s:from=${from}`]) : undefined),
    });
    const { resolve } = new LabelResolver([source('allocator', 300), source('snapshot', 400)]);
    expect(resolve(300)).toEqual({ labels: ['k8s:from=allocator'], labelsFrom: 'allocator' });
    expect(resolve(301)).toEqual({ labels: ['k8s:from=snapshot'], labelsFrom: 'snapshot' });
    expect(resolve(401)).toBeUndefined();
  });

  test.each([undefined, [16777217, 1000]])(
    'joins from the checkpoint in the order of the keys, asked for %j',
    (ids) => {
      const source = allocatorLabels(write(FILE), ids);
      const { resolve } = new LabelResolver(source === undefined ? [] : [source]);
      expect(resolve(16777217)).toEqual({ labels: ['fqdn:*.a.io', 'reserved:world-ipv4'], labelsFrom: 'allocator' });
      expect(resolve(16777218)).toBeUndefined();
      // The agent would not restore it: global numbers are none of this file's business.
      expect(resolve(1000)).toBeUndefined();
    },
  );

  test('a missing file is no source, a damaged one an error with its offset', () => {
    expect(allocatorLabels(join(directory, 'none'))).toBeUndefined();
    expect(() => allocatorLabels(write('[{]'))).toThrow(expect.objectContaining({ code: 'BAD_CHECKPOINT' }));
  });
});
