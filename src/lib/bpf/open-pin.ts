/** Opens a pinned map, and says what is wrong with a path that is none. */
import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { NotFoundError, type ToolError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { EACCES, ENOENT, ENOTDIR, EPERM, errnoName } from './errno.ts';
import type { Explanation } from './explanation.ts';
import { OwnedFd } from './fd.ts';
import { BpfMap } from './map.ts';
import { readMapInfo } from './map-info.ts';
import { placeOf } from './statfs.ts';
import { BPF_F_RDONLY, BPF_OBJ_GET } from './uapi.ts';

export interface OpenPinOptions {
  readonly kernel: Kernel;
  /** Otherwise the descriptor is read-only (BPF_F_RDONLY), and read permission on the pin is enough. */
  readonly write?: boolean | undefined;
  /** Where procfs is mounted. */
  readonly procRoot?: string | undefined;
}

/**
 * BPF_OBJ_GET. @returns a map that the caller disposes of.
 * @throws {NotFoundError} MAP_NOT_FOUND no such pin; NOT_BPFFS the path is not on a bpf filesystem; NOT_A_PIN a
 * directory; NOT_A_MAP a pinned program or link.
 * @throws {NotPermittedError} no permission on the pin, a directory above it, or to use bpf(2).
 */
export function openPin(pin: string, options: OpenPinOptions): BpfMap {
  const { kernel, write = false, procRoot = '/proc' } = options;
  const attr = new BpfAttr()
    .cstring(0, pin)
    .u32(8, 0)
    .u32(12, write ? 0 : BPF_F_RDONLY);
  const ret = bpfCall(kernel, BPF_OBJ_GET, attr);
  if (ret < 0) throw openError(pin, -ret, write);
  using fd = new OwnedFd(kernel, ret);
  const other = otherObject(procRoot, ret);
  if (other !== undefined) {
    throw new NotFoundError(`Cannot open map ${pin}: it is a pinned ${other}, not a map`, {
      code: 'NOT_A_MAP',
      hint: 'ipc doctor lists the maps and pins of this node',
      operands: { path: pin },
    });
  }
  const info = readMapInfo(kernel, ret, `map ${pin}`);
  return new BpfMap({ kernel, fd: fd.release(), info, path: pin });
}

/** The kernel hands out descriptors of pinned programs and links through the same call; only procfs tells them apart. */
function otherObject(procRoot: string, fd: number): string | undefined {
  try {
    const target = readlinkSync(`${procRoot}/self/fd/${fd}`);
    return /^anon_inode:\[?bpf[-_](prog|link)\]?$/.exec(target)?.[1]?.replace('prog', 'program');
  } catch {
    return undefined;
  }
}

function openError(pin: string, errno: number, write: boolean): ToolError {
  const operands = { path: pin, errno: errnoName(errno), syscall: 'BPF_OBJ_GET' };
  if (errno === EACCES || errno === ENOENT || errno === ENOTDIR || errno === EPERM) {
    const wrong = wrongPlace(pin);
    if (wrong !== undefined) return new NotFoundError(`Cannot open map ${pin}: ${wrong.state}`, { ...wrong, operands });
  }
  return bpfError({ cmd: BPF_OBJ_GET, errno, action: `open map ${pin}`, path: pin, because: deniedText(errno, write) });
}

/** What the file system knows about a path that bpf(2) refused; the kernel answers EACCES for anything that is no pin. */
function wrongPlace(pin: string): { code: string; state: string; hint: string } | undefined {
  const place = placeOf(pin);
  if (place === 'hidden') return undefined;
  const directory = isDirectory(pin) ? pin : path.dirname(pin);
  if (place === 'elsewhere' || (place === 'missing' && placeOf(directory) === 'elsewhere')) {
    return {
      code: 'NOT_BPFFS',
      state: `${directory} is not a bpf filesystem`,
      hint: 'pins live on bpffs: mount -t bpf bpf /sys/fs/bpf, or name the mount with --bpffs',
    };
  }
  if (place === 'bpffs' && directory === pin) {
    return { code: 'NOT_A_PIN', state: 'it is a directory, not a pin', hint: `list it with: ls ${pin}` };
  }
  return undefined;
}

function isDirectory(file: string): boolean {
  try {
    return lstatSync(file).isDirectory();
  } catch {
    // ENOENT, but also ENOTDIR: "throwIfNoEntry: false" would throw for a path through a pin.
    return false;
  }
}

function deniedText(errno: number, write: boolean): Partial<Explanation> | undefined {
  if (errno !== EACCES) return undefined;
  return write
    ? {
        state: 'no permission to write to this pin',
        hint: "writing needs read and write permission on the pin or CAP_DAC_OVERRIDE (run as root); AppArmor's container default denies writes below bpffs",
      }
    : {
        state: 'no permission to read this pin',
        hint: 'reading needs read permission on the pin and the directories above it, or CAP_DAC_READ_SEARCH (run as root)',
      };
}
