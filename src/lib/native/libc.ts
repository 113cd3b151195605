/** Functions of the C library of this very process, declared on first use. */
import { type Koffi, loadKoffi } from './koffi.ts';

export interface Libc {
  readonly koffi: Koffi;
  /** `syscall(2)` with four arguments of the widest types; pointers are addresses or buffers. */
  readonly bpfSyscall: BpfSyscall;
}

export interface BpfSyscall {
  (number: number, cmd: number, attr: bigint, size: number): number;
  async(
    number: number,
    cmd: number,
    attr: bigint,
    size: number,
    callback: (error: Error | null, ret: number) => void,
  ): void;
}

type Argument = number | bigint | Uint8Array | null;
type IntFunction = (...args: Argument[]) => number;

let library: ReturnType<Koffi['load']> | undefined;
let libc: Libc | undefined;
const functions = new Map<string, IntFunction>();

function self(): ReturnType<Koffi['load']> {
  // No name: the process's own symbols, so the same call is right for glibc and musl.
  library ??= loadKoffi().load(null);
  return library;
}

export function getLibc(): Libc {
  libc ??= {
    koffi: loadKoffi(),
    // Declared without varargs: the registers are the same on both architectures, and the call is half as expensive.
    bpfSyscall: self().func('syscall', 'long', ['long', 'int', 'void *', 'uint']) as unknown as BpfSyscall,
  };
  return libc;
}

/**
 * Calls a C function. @param types its parameter types in koffi's words; one declaration per name and types.
 * @returns its result, or the errno, negated, where it is negative.
 */
export function callLibc(name: string, types: readonly string[], ...args: Argument[]): number {
  const key = `${name}(${types.join()})`;
  let declared = functions.get(key);
  if (declared === undefined) {
    declared = self().func(name, 'int', [...types]) as unknown as IntFunction;
    functions.set(key, declared);
  }
  const ret = declared(...args);
  return ret < 0 ? -loadKoffi().errno() : ret;
}
