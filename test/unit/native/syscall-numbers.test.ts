import { describe, expect, it } from 'vitest';
import { KernelFeatureError } from '../../../src/lib/errors.ts';
import { syscallNumbers } from '../../../src/lib/native/syscall-numbers.ts';

describe('syscallNumbers()', () => {
  it('knows bpf and renameat2 of both architectures', () => {
    expect(syscallNumbers('linux', 'x64')).toEqual({ bpf: 321, renameat2: 316 });
    expect(syscallNumbers('linux', 'arm64')).toEqual({ bpf: 280, renameat2: 276 });
  });

  it.each([
    ['linux', 'riscv64'],
    ['darwin', 'arm64'],
  ])('refuses %s on %s by name', (platform, arch) => {
    const call = () => syscallNumbers(platform, arch);
    expect(call).toThrow(KernelFeatureError);
    expect(call).toThrow(`Cannot call the kernel: ${platform} on ${arch} is not supported`);
  });
});
