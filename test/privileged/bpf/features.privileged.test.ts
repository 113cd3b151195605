import { readdirSync } from 'node:fs';
import { release } from 'node:os';
import { expect, it } from 'vitest';
import { Features } from '../../../src/lib/bpf/features.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';
import { bpfDescriptors, pinDirectory } from '../../support/real-kernel.ts';

/** 6.9 → 6009, to be compared. */
function versionNumber(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major * 1000 + minor;
}

it('Features find what this kernel is new enough for, and leave nothing behind', () => {
  const before = bpfDescriptors();
  using directory = pinDirectory('features');
  const features = new Features({ kernel: new LinuxKernel(), pinDirectory: directory.path }).all();
  const expected = features.filter(({ minKernel }) => versionNumber(release()) >= versionNumber(minKernel));
  expect(expected.map(({ name, outcome }) => [name, outcome])).toEqual(expected.map(({ name }) => [name, 'available']));
  expect(expected.length).toBeGreaterThan(0);
  expect(features.filter(({ outcome }) => outcome === 'unknown')).toEqual([]);
  expect(readdirSync(directory.path)).toEqual([]);
  expect(bpfDescriptors()).toBe(before);
});
