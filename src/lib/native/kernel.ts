/**
 * The seam between this program and the kernel's bpf(2). Everything above speaks to a Kernel; the real one is
 * linux-kernel.ts, tests bring their own.
 */
import type { BpfAttr } from './attr.ts';

export interface Kernel {
  /** One call of bpf(2). @returns the kernel's answer (a new fd where the command makes one) or the errno, negated. */
  bpf(cmd: number, attr: BpfAttr): number;
  /** The same call on another thread; the attribute and its buffers must not be touched until it is settled. */
  bpfAsync(cmd: number, attr: BpfAttr): Promise<number>;
  /** Closes a descriptor that a bpf call made. */
  close(fd: number): void;
}
