/** A kernel that answers what a test says, call by call. */
import type { BpfAttr } from '../../src/lib/native/attr.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';

export class ScriptedKernel implements Kernel {
  readonly calls: { readonly cmd: number; readonly attr: BpfAttr }[] = [];
  readonly closed: number[] = [];
  readonly #answer: (cmd: number, attr: BpfAttr) => number;

  /** @param answer gives the kernel's answer: 0 or more, or the errno, negated. */
  constructor(answer: (cmd: number, attr: BpfAttr) => number) {
    this.#answer = answer;
  }

  bpf(cmd: number, attr: BpfAttr): number {
    this.calls.push({ cmd, attr });
    return this.#answer(cmd, attr);
  }

  async bpfAsync(cmd: number, attr: BpfAttr): Promise<number> {
    return this.bpf(cmd, attr);
  }

  close(fd: number): void {
    this.closed.push(fd);
  }
}
