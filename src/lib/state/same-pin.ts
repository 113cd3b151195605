/** Whether two paths are one pin, also where one bpffs is mounted in two places. */
import { type BigIntStats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** Paths of pins, which need not exist: a reboot empties bpffs. */
export function isSamePin(a: string, b: string): boolean {
  if (resolve(a) === resolve(b)) return true;
  if (basename(a) !== basename(b)) return false;
  const [one, other] = [directoryOf(a), directoryOf(b)];
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

function directoryOf(pin: string): BigIntStats | undefined {
  try {
    return statSync(dirname(resolve(pin)), { bigint: true });
  } catch {
    return undefined;
  }
}
