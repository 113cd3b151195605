import { describe, it } from 'vitest';
import { FakeKernel } from '../support/fake-kernel.ts';
import { loadTopic } from './load.ts';
import { checkMapOperations, type MapOperation, type MapResult } from './map-operations.ts';

const { cases } = loadTopic<{ ops: MapOperation[] }, { results: MapResult[] }>('14-bpf-map');

describe.each(['since-6.13', 'before-6.13'] as const)('fake trie %s', (kind) => {
  it.each(cases)('$name', ({ input, expect: wanted }) => {
    const { map } = new FakeKernel(kind).createMap();
    checkMapOperations(map, input.ops, wanted.results);
  });
});
