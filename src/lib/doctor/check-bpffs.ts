/** Where bpf filesystems are, and whether the pins in them can be seen. */
import { resolve } from 'node:path';
import { bpffsMounts, bpffsRoots } from '../bpf/bpffs.ts';
import { placeOf } from '../bpf/statfs.ts';
import type { Finding } from '../check/finding.ts';
import { NotFoundError } from '../errors.ts';

export interface BpffsCheckOptions {
  /** --bpffs */
  readonly bpffs?: string | undefined;
  /** TC_BPF_MNT */
  readonly tcBpfMnt?: string | undefined;
  /** Text of /proc/self/mountinfo; undefined where it cannot be read. */
  readonly mountinfo: string | undefined;
}

export interface BpffsCheck {
  /** Empty when there is none. */
  readonly roots: readonly string[];
  readonly findings: readonly Finding[];
}

const CHECK = 'bpffs';

export function checkBpffs(options: BpffsCheckOptions): BpffsCheck {
  let roots: string[];
  try {
    roots = bpffsRoots(options);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const { message, hint } = error;
    return { roots: [], findings: [{ check: CHECK, severity: 'high', message, ...(hint !== undefined && { hint }) }] };
  }
  const mounts = bpffsMounts(options.mountinfo ?? '');
  const findings = roots.map((root) =>
    checkRoot(
      root,
      mounts.find(({ path }) => path === resolve(root)),
    ),
  );
  return { roots, findings };
}

function checkRoot(path: string, mount: ReturnType<typeof bpffsMounts>[number] | undefined): Finding {
  if (mount !== undefined && mount.stacked > 1) {
    return {
      check: CHECK,
      severity: 'high',
      message: `${mount.stacked} bpf filesystems are mounted on ${path}: only the pins of the last one can be seen`,
      hint: `find out which one the agent uses, then umount ${path} once for each other one`,
    };
  }
  if (placeOf(path) === 'elsewhere') {
    return {
      check: CHECK,
      severity: 'high',
      message: `${path} is hidden: another filesystem is mounted over it`,
      hint: `umount ${path} shows the pins again`,
    };
  }
  if (mount?.readOnly === true) {
    return {
      check: CHECK,
      severity: 'medium',
      message: `${path} is mounted read-only: no pin can be made or replaced`,
      hint: `mount -o remount,rw ${path}`,
    };
  }
  return { check: CHECK, severity: 'info', message: `a bpf filesystem is mounted on ${path}` };
}
