/** One bpf(2) call with the retries that belong to every command. */
import type { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { EAGAIN, EINTR } from './errno.ts';

/** A signal may interrupt a call any number of times; an endless row of interruptions is an error, not a hang. */
const MAX_INTERRUPTIONS = 100;

/** As Kernel.bpf, but repeats an interrupted call. EAGAIN (the verifier, a signal) is treated alike. */
export function bpfCall(kernel: Kernel, cmd: number, attr: BpfAttr): number {
  let ret = kernel.bpf(cmd, attr);
  for (let tries = 0; (ret === -EINTR || ret === -EAGAIN) && tries < MAX_INTERRUPTIONS; tries++) {
    ret = kernel.bpf(cmd, attr);
  }
  return ret;
}
