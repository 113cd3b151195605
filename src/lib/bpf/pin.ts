/**
 * Pins: the names of maps on a bpf filesystem. bpffs holds nothing else, so pins are replaced by rename, never by a
 * temporary file; a name with a dot in it is refused by the kernel (bpf_lookup of kernel/bpf/inode.c).
 */
import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { NotFoundError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import { RENAME_EXCHANGE, RENAME_NOREPLACE, renameat2 } from '../native/renameat2.ts';
import { bpfError } from './bpf-error.ts';
import { bpfCall } from './call.ts';
import { EPERM } from './errno.ts';
import type { BpfMap } from './map.ts';
import { pinFileError } from './pin-error.ts';
import { placeOf } from './statfs.ts';
import { BPF_OBJ_PIN } from './uapi.ts';

/**
 * BPF_OBJ_PIN: gives an open map a name; the map then outlives its descriptors.
 * @throws {FailedError} PIN_EXISTS. @throws {NotFoundError} no such directory; NOT_BPFFS.
 * @throws {NotPermittedError} no write permission, or a dot in the name.
 */
export function pinMap(map: BpfMap, path: string): void {
  const ret = bpfCall(map.kernel, BPF_OBJ_PIN, new BpfAttr().cstring(0, path).u32(8, map.fd));
  if (ret >= 0) return;
  const action = `pin ${map.label} to ${path}`;
  // The kernel answers EPERM for every directory elsewhere.
  if (ret === -EPERM && placeOf(dirname(path)) === 'elsewhere') {
    throw new NotFoundError(`Cannot ${action}: ${dirname(path)} is not a bpf filesystem`, {
      code: 'NOT_BPFFS',
      hint: 'pins live on bpffs: mount -t bpf bpf /sys/fs/bpf',
      operands: { path, errno: 'EPERM', syscall: 'BPF_OBJ_PIN' },
    });
  }
  throw bpfError({ cmd: BPF_OBJ_PIN, errno: -ret, action, path });
}

/**
 * Takes the name away; the map lives on while a program, a descriptor or another pin holds it.
 * @throws {NotFoundError} no such pin, or the path is a file elsewhere, which is left alone.
 */
export function unpin(path: string): void {
  if (placeOf(path) === 'elsewhere') {
    throw new NotFoundError(`Cannot unpin ${path}: ${dirname(path)} is not a bpf filesystem`, {
      code: 'NOT_BPFFS',
      operands: { path },
    });
  }
  try {
    unlinkSync(path);
  } catch (error) {
    throw pinFileError('unpin', path, error);
  }
}

/** Renames a pin over whatever is pinned there: at each moment the target names the old map or the new one. */
export function renamePin(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw pinFileError(`rename pin ${from} to`, to, error);
  }
}

/** As renamePin, but replaces nothing. @throws {FailedError} PIN_EXISTS */
export function renamePinIfFree(from: string, to: string): void {
  const ret = renameat2(from, to, RENAME_NOREPLACE);
  if (ret < 0) throw pinFileError(`rename pin ${from} to`, to, -ret);
}

/** Swaps two pins in one step, so that no moment has only one of them. @throws {KernelFeatureError} before Linux 5.16 */
export function exchangePins(one: string, other: string): void {
  const ret = renameat2(one, other, RENAME_EXCHANGE);
  if (ret < 0) throw pinFileError(`exchange pin ${one} with`, other, -ret);
}

/** Gives the map of a pin a second name. @throws {FailedError} PIN_EXISTS */
export function linkPin(existing: string, path: string): void {
  try {
    linkSync(existing, path);
  } catch (error) {
    throw pinFileError(`link pin ${existing} to`, path, error);
  }
}
