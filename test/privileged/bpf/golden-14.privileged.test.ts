import { expect, it } from 'vitest';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { loadTopic } from '../../golden/load.ts';
import { checkMapOperations, type MapOperation, type MapResult } from '../../golden/map-operations.ts';
import { bpfDescriptors, realTrie } from '../../support/real-kernel.ts';

const { cases } = loadTopic<{ ops: MapOperation[] }, { results: MapResult[] }>('14-bpf-map');
const kernel = new LinuxKernel();

it.each(cases)('golden 14 on the real kernel: $name', ({ input, expect: wanted }) => {
  const before = bpfDescriptors();
  {
    using map = realTrie(kernel);
    checkMapOperations(map, input.ops, wanted.results);
  }
  expect(bpfDescriptors()).toBe(before);
});
