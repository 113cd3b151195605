/** The real kernel: bpf(2) through koffi. */
import { closeSync } from 'node:fs';
import type { BpfAttr } from './attr.ts';
import type { Kernel } from './kernel.ts';
import { getLibc, type Libc } from './libc.ts';
import { syscallNumbers } from './syscall-numbers.ts';

export class LinuxKernel implements Kernel {
  readonly #number: number;
  readonly #libc: Libc;
  readonly #inFlight = new Set<BpfAttr>();
  /** Keeps the attribute, and through it every buffer, alive until the next call: addresses alone do not. */
  #current: BpfAttr | undefined;

  /** @throws {KernelFeatureError} on another platform or where koffi has no build for this system. */
  constructor() {
    this.#number = syscallNumbers().bpf;
    this.#libc = getLibc();
  }

  bpf(cmd: number, attr: BpfAttr): number {
    const { koffi, bpfSyscall } = this.#libc;
    if (this.#current !== attr) this.#current = attr;
    const ret = bpfSyscall(this.#number, cmd, attr.resolve(koffi.address), attr.size);
    return ret >= 0 ? ret : -koffi.errno();
  }

  bpfAsync(cmd: number, attr: BpfAttr): Promise<number> {
    const { koffi, bpfSyscall } = this.#libc;
    this.#inFlight.add(attr);
    return new Promise((resolve, reject) => {
      bpfSyscall.async(this.#number, cmd, attr.resolve(koffi.address), attr.size, (error, ret) => {
        // First of all: the errno of the pool thread's call is what this callback reads until another call is made.
        const errno = koffi.errno();
        this.#inFlight.delete(attr);
        if (error) reject(error);
        else resolve(ret >= 0 ? ret : -errno);
      });
    });
  }

  close(fd: number): void {
    closeSync(fd);
  }
}
