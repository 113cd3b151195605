/** Which machine, and which of its runs, a snapshot was taken on. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, release } from 'node:os';
import type { SnapshotHeader } from './lines.ts';

export type MachineFacts = Pick<SnapshotHeader, 'node' | 'machine' | 'bootId' | 'kernel'>;

export interface MachineFiles {
  readonly machineId?: string;
  readonly bootId?: string;
}

/** systemd asks not to show the id itself; what is derived from it tells machines apart just as well. */
const APPLICATION = 'ipcache-snapshot';

/** @returns what could be found out; the rest is absent */
export function readMachineFacts(files: MachineFiles = {}): MachineFacts {
  const id = readWord(files.machineId ?? '/etc/machine-id');
  const bootId = readWord(files.bootId ?? '/proc/sys/kernel/random/boot_id');
  return {
    node: hostname(),
    ...(id !== undefined && { machine: createHmac('sha256', id).update(APPLICATION).digest('hex').slice(0, 32) }),
    ...(bootId !== undefined && { bootId }),
    kernel: release(),
  };
}

function readWord(path: string): string | undefined {
  try {
    return /^[0-9A-Za-z-]+$/.exec(readFileSync(path, 'latin1').trim())?.[0];
  } catch {
    return undefined;
  }
}
