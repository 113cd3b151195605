/** Where bpf filesystems are mounted. */
import { NotFoundError } from '../errors.ts';
import { parseMountinfo } from './mountinfo.ts';
import { placeOf } from './statfs.ts';

/** Where systemd and Cilium mount it; other mounts come after these. */
const USUAL = ['/sys/fs/bpf', '/run/cilium/bpffs'];

export interface BpffsMount {
  readonly path: string;
  /** Mounts on top of each other on this path; above 1 the pins of all but the last are out of sight. */
  readonly stacked: number;
  readonly readOnly: boolean;
}

/** The bpf filesystems of a mountinfo file, the usual places first. */
export function bpffsMounts(mountinfo: string): BpffsMount[] {
  const byPath = new Map<string, BpffsMount>();
  for (const mount of parseMountinfo(mountinfo)) {
    if (mount.fsType !== 'bpf') continue;
    byPath.set(mount.mountPoint, {
      path: mount.mountPoint,
      stacked: (byPath.get(mount.mountPoint)?.stacked ?? 0) + 1,
      readOnly: mount.options.includes('ro'),
    });
  }
  const rank = ({ path }: BpffsMount) => (USUAL.includes(path) ? USUAL.indexOf(path) : USUAL.length);
  return [...byPath.values()].sort((a, b) => rank(a) - rank(b));
}

export interface BpffsOptions {
  /** What the user said; nothing else is then looked at. */
  readonly bpffs?: string | undefined;
  /** The value of TC_BPF_MNT, which overrides Cilium's own choice. */
  readonly tcBpfMnt?: string | undefined;
  /** The text of /proc/self/mountinfo; without it only the usual places are looked at. */
  readonly mountinfo: string | undefined;
}

/**
 * The roots below which pins are looked for, best first.
 * @throws {NotFoundError} NOT_BPFFS none is mounted, or the one that was named is something else.
 */
export function bpffsRoots({ bpffs, tcBpfMnt, mountinfo }: BpffsOptions): string[] {
  const named = bpffs ?? tcBpfMnt;
  if (named !== undefined) {
    const place = placeOf(named);
    if (place === 'bpffs' || place === 'hidden') return [named];
    throw notBpffs(named, place === 'missing' ? 'no such directory' : 'not a bpf filesystem', bpffs === undefined);
  }
  const roots =
    mountinfo === undefined
      ? USUAL.filter((path) => placeOf(path) === 'bpffs')
      : bpffsMounts(mountinfo).map(({ path }) => path);
  if (roots.length > 0) return roots;
  throw new NotFoundError('Cannot find a bpf filesystem: none is mounted', {
    code: 'NOT_BPFFS',
    hint: 'mount one: mount -t bpf bpf /sys/fs/bpf',
  });
}

function notBpffs(path: string, state: string, fromEnvironment: boolean): NotFoundError {
  const source = fromEnvironment ? 'TC_BPF_MNT' : '--bpffs';
  return new NotFoundError(`Cannot look for pins below ${path}: ${state}`, {
    code: 'NOT_BPFFS',
    hint: `${source} names it; mount one with: mount -t bpf bpf /sys/fs/bpf`,
    operands: { path },
  });
}
