/** System calls without a C function everywhere, by architecture: asm/unistd_64.h and asm-generic/unistd.h. */
import { KernelFeatureError } from '../errors.ts';

export interface SyscallNumbers {
  readonly bpf: number;
  readonly renameat2: number;
}

const NUMBERS: Readonly<Record<string, SyscallNumbers>> = {
  x64: { bpf: 321, renameat2: 316 },
  arm64: { bpf: 280, renameat2: 276 },
};

/** @throws {KernelFeatureError} code UNSUPPORTED_PLATFORM anywhere but on Linux on x86-64 and arm64. */
export function syscallNumbers(platform: string = process.platform, arch: string = process.arch): SyscallNumbers {
  const numbers = platform === 'linux' ? NUMBERS[arch] : undefined;
  if (numbers !== undefined) return numbers;
  throw new KernelFeatureError(`Cannot call the kernel: ${platform} on ${arch} is not supported`, {
    code: 'UNSUPPORTED_PLATFORM',
    hint: 'ipc reads and writes maps on Linux on x86-64 and arm64; snapshots can be read anywhere',
    operands: { platform, arch },
  });
}
