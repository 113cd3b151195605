/**
 * A BPF program, made from instructions by hand, that asks a map the way the datapath does: it takes the key from the
 * packet it is given and returns the first four bytes of the value. Loaded, it holds the map as any program does.
 */
import { BPF_PROG_LOAD } from '../../src/lib/bpf/uapi.ts';
import { BpfAttr } from '../../src/lib/native/attr.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';

const BPF_PROG_TEST_RUN = 10;
const BPF_PROG_TYPE_SCHED_CLS = 3;
const BPF_PSEUDO_MAP_FD = 1;
const HELPER_MAP_LOOKUP_ELEM = 1;
const HELPER_SKB_LOAD_BYTES = 26;
/** The kernel wants an Ethernet header before anything else. */
const ETH_HLEN = 14;

/** Opcodes of linux/bpf_common.h and linux/bpf.h, already put together. */
const MOV64_IMM = 0xb7;
const MOV64_REG = 0xbf;
const ADD64_IMM = 0x07;
const LD_IMM64 = 0x18;
const LDX_W = 0x61;
const JEQ_IMM = 0x15;
const JNE_IMM = 0x55;
const CALL = 0x85;
const EXIT = 0x95;

type Instruction = readonly [opcode: number, dst: number, src: number, offset: number, immediate: number];

/** A loaded program; it goes when it is disposed, with its hold on the map. */
export class TestProgram implements Disposable {
  readonly #kernel: Kernel;
  readonly #fd: number;

  constructor(kernel: Kernel, fd: number) {
    this.#kernel = kernel;
    this.#fd = fd;
  }

  /** Runs it on one key. @returns the identity of the longest match, 0 when nothing matches. */
  identityOf(key: Uint8Array): number {
    const packet = new Uint8Array(ETH_HLEN + key.length);
    packet.set(key, ETH_HLEN);
    const attr = new BpfAttr().u32(0, this.#fd).u32(8, packet.length).ptr(16, packet).u32(32, 1).u64(40, 0);
    const ret = this.#kernel.bpf(BPF_PROG_TEST_RUN, attr);
    if (ret < 0) throw new Error(`BPF_PROG_TEST_RUN: errno ${-ret}`);
    return attr.getU32(4);
  }

  [Symbol.dispose](): void {
    this.#kernel.close(this.#fd);
  }
}

/** Loads a program that uses the map. @param name up to 15 characters, such as `cil_test` */
export function loadProgram(
  kernel: Kernel,
  map: { readonly fd: number; readonly keyBytes: number },
  name: string,
): TestProgram {
  const code = assemble(lookupProgram(map.fd, map.keyBytes));
  const log = new Uint8Array(16 * 1024);
  const attr = new BpfAttr()
    .u32(0, BPF_PROG_TYPE_SCHED_CLS)
    .u32(4, code.length / 8)
    .ptr(8, code)
    .cstring(16, 'GPL')
    .u32(24, 1)
    .u32(28, log.length)
    .ptr(32, log)
    .inlineName(48, name, 16);
  const ret = kernel.bpf(BPF_PROG_LOAD, attr);
  if (ret >= 0) return new TestProgram(kernel, ret);
  throw new Error(`BPF_PROG_LOAD: errno ${-ret}: ${new TextDecoder().decode(log.subarray(0, log.indexOf(0)))}`);
}

function lookupProgram(mapFd: number, keyBytes: number): Instruction[] {
  const notFound = 14;
  const jumpFrom = (index: number): number => notFound - index - 1;
  return [
    [MOV64_IMM, 2, 0, 0, ETH_HLEN],
    [MOV64_REG, 3, 10, 0, 0],
    [ADD64_IMM, 3, 0, 0, -keyBytes],
    [MOV64_IMM, 4, 0, 0, keyBytes],
    [CALL, 0, 0, 0, HELPER_SKB_LOAD_BYTES],
    [JNE_IMM, 0, 0, jumpFrom(5), 0],
    [LD_IMM64, 1, BPF_PSEUDO_MAP_FD, 0, mapFd],
    [0, 0, 0, 0, 0], // second half of the 64-bit immediate
    [MOV64_REG, 2, 10, 0, 0],
    [ADD64_IMM, 2, 0, 0, -keyBytes],
    [CALL, 0, 0, 0, HELPER_MAP_LOOKUP_ELEM],
    [JEQ_IMM, 0, 0, jumpFrom(11), 0],
    [LDX_W, 0, 0, 0, 0],
    [EXIT, 0, 0, 0, 0],
    [MOV64_IMM, 0, 0, 0, 0],
    [EXIT, 0, 0, 0, 0],
  ];
}

/** struct bpf_insn: opcode, both registers in one byte, offset, immediate. */
function assemble(instructions: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(instructions.length * 8));
  instructions.forEach(([opcode, dst, src, offset, immediate], index) => {
    view.setUint8(index * 8, opcode);
    view.setUint8(index * 8 + 1, dst | (src << 4));
    view.setInt16(index * 8 + 2, offset, true);
    view.setInt32(index * 8 + 4, immediate, true);
  });
  return new Uint8Array(view.buffer);
}
