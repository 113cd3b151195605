import { expect, test } from 'vitest';
import { labelFilter } from '../../../src/lib/identity/label-filter.ts';
import { LabelResolver } from '../../../src/lib/identity/label-resolver.ts';
import { Labels } from '../../../src/lib/identity/labels.ts';

test('labelFilter() passes numbers with any of the labels, asks for each once, and nothing it does not know', () => {
  const asked: number[] = [];
  const lookup = (id: number) => {
    asked.push(id);
    return id === 16777217 ? Labels.parse(['cidr:10.1.0.0/16', 'reserved:world-ipv4']) : undefined;
  };
  const passes = labelFilter(['cidr:10.0.0.0/8', 'reserved:host'], new LabelResolver([{ from: 'allocator', lookup }]));
  const answers = [1, 2, 16777217, 16777218, 16777217].map((id) => passes?.(id));
  expect(answers).toEqual([true, false, true, false, true]);
  expect(asked).toEqual([16777217, 16777218]);
});

test('labelFilter() of nothing is no filter, of nonsense a usage error', () => {
  expect(labelFilter(undefined, new LabelResolver([]))).toBeUndefined();
  expect(labelFilter([], new LabelResolver([]))).toBeUndefined();
  expect(() => labelFilter(['k8s:'], new LabelResolver([]))).toThrow('it has no key');
  expect(() => labelFilter(['k8s:a'], undefined)).toThrow('labels are not joined');
});
