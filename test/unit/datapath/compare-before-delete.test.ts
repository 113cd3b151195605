import { describe, expect, it } from 'vitest';
import { ENOTSUPP } from '../../../src/lib/bpf/errno.ts';
import { BPF_MAP_DELETE_BATCH, BPF_MAP_LOOKUP_ELEM } from '../../../src/lib/bpf/uapi.ts';
import { Deleter, MOST_AT_ONCE } from '../../../src/lib/datapath/compare-before-delete.ts';
import { FakeKernel } from '../../support/fake-kernel.ts';
import { entriesOf } from '../../support/map-words.ts';
import { entryBytes } from '../../support/pinned-ipcache.ts';

const PREFIXES = Array.from({ length: MOST_AT_ONCE }, (_, i) => `10.0.0.${i}/32`);

function given(kernel = new FakeKernel()) {
  const { map, fake } = kernel.createMap({ maxEntries: 100 });
  const put = (prefix: string, identity: number): void => {
    const { key, value } = entryBytes('v2', { prefix, identity });
    fake.store.update(key, value);
  };
  const take = (prefix: string): void => {
    fake.store.delete(entryBytes('v2', { prefix, identity: 0 }).key);
  };
  put('10.0.0.0/8', 5);
  for (const prefix of PREFIXES) put(prefix, 5);
  const bytes = PREFIXES.map((prefix) => entryBytes('v2', { prefix, identity: 5 }));
  const keys = Buffer.concat(bytes.map(({ key }) => key));
  const values = Buffer.concat(bytes.map(({ value }) => value));
  return { kernel, fake, put, take, bytes, keys, values, deleter: new Deleter(map) };
}

describe('Deleter', () => {
  it('deletes what is as expected, keeps what changed, tells what is gone', async () => {
    const { deleter, bytes, put, take, fake } = given();
    put('10.0.0.1/32', 6);
    take('10.0.0.2/32');
    const outcomes: string[] = [];
    for (const { key, value } of bytes.slice(0, 3)) outcomes.push(await deleter.delete(key, value));
    // The wider entry has the value that was expected of the missing one: it is not taken for it, and stays.
    expect(outcomes).toEqual(['deleted', 'changed', 'absent']);
    expect(entriesOf(fake)).toContain('10.0.0.1/32=6');
    expect(entriesOf(fake)).toContain('10.0.0.0/8=5');
  });

  it.each([
    ['with batches', undefined],
    ['without batches', ENOTSUPP],
  ])('tryDeleteMany() answers for each of many, %s', async (_, missing) => {
    const { kernel, deleter, keys, values, put, take, fake } = given();
    if (missing !== undefined) kernel.missing.set(BPF_MAP_DELETE_BATCH, missing);
    put('10.0.0.3/32', 6);
    take('10.0.0.5/32');
    take('10.0.0.0/8');
    const answers = deleter.tryDeleteMany(keys, values, PREFIXES.length);
    expect(answers.map((answer) => answer ?? 'undefined')).toEqual(
      PREFIXES.map((_prefix, i) => (i === 3 ? 'undefined' : i === 5 ? 'absent' : 'deleted')),
    );
    expect(await deleter.explain(keys.subarray(3 * 24, 4 * 24))).toBe('changed');
    expect(entriesOf(fake)).toEqual(['10.0.0.3/32=6']);
  });

  it('tryDeleteMany() goes on behind keys that go between comparison and delete', () => {
    const { kernel, deleter, keys, values, take, fake } = given();
    let looks = 0;
    kernel.onCall = ({ cmd, phase }) => {
      if (cmd !== BPF_MAP_LOOKUP_ELEM || phase !== 'after' || ++looks !== PREFIXES.length) return;
      for (const i of [0, 4, 5, 15]) take(`10.0.0.${i}/32`);
    };
    const answers = deleter.tryDeleteMany(keys, values, PREFIXES.length);
    expect(answers.filter((answer) => answer === 'absent')).toHaveLength(4);
    expect(answers.filter((answer) => answer === 'deleted')).toHaveLength(12);
    expect(entriesOf(fake)).toEqual(['10.0.0.0/8=5']);
  });
});
