/** The state directory: whose it is, whether it can be read, and what waits in it. */
import { existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import type { Finding } from '../check/finding.ts';
import { ToolError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { listBackups } from '../state/backup.ts';
import type { StateCheckpoint } from '../state/checkpoint.ts';
import { readLockHolder } from '../state/lock.ts';
import { statePaths } from '../state/paths.ts';
import { readCheckpoint } from '../state/read-checkpoint.ts';
import { isSamePin } from '../state/same-pin.ts';

export interface StateCheckOptions {
  readonly directory: string;
  /** The pin in question, where there is one. */
  readonly pin?: string | undefined;
}

const CHECK = 'state-directory';

export function checkState({ directory, pin }: StateCheckOptions): Finding[] {
  let stats: Stats | undefined;
  try {
    stats = statSync(directory, { throwIfNoEntry: false });
  } catch (cause) {
    const { message } = fileError('look at', directory, cause);
    return [{ check: CHECK, severity: 'low', message, hint: 'run as root' }];
  }
  if (stats === undefined) {
    return [{ check: CHECK, severity: 'info', message: `${directory} does not exist: ipc has kept nothing yet` }];
  }
  const holder = readLockHolder(directory);
  const findings = [...checkModes(directory, stats), ...checkLeftovers(directory, holder !== undefined)];
  if (holder !== undefined) {
    const { command = 'a process', pid } = holder;
    findings.push({ check: 'state-lock', severity: 'info', message: `${command} (pid ${pid}) is writing` });
  }
  try {
    const checkpoint = readCheckpoint(directory);
    if (checkpoint === undefined) {
      findings.push({ check: CHECK, severity: 'info', message: `${directory} holds no checkpoint` });
    } else findings.push(...checkCheckpoint(directory, checkpoint, pin, holder !== undefined));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { message, hint } = error;
    const severity = error.exitCode === 5 ? 'low' : 'high';
    findings.push({ check: 'state-checkpoint', severity, message, ...(hint !== undefined && { hint }) });
  }
  return findings;
}

function checkCheckpoint(
  directory: string,
  checkpoint: StateCheckpoint,
  pin: string | undefined,
  locked: boolean,
): Finding[] {
  const { identities, placeholders, pending, writer, restored } = checkpoint;
  const backups = listBackups(directory).length;
  const released = restored?.released === undefined ? placeholders.length : 0;
  const findings: Finding[] = [
    {
      check: CHECK,
      severity: 'info',
      message:
        `${directory} belongs to ${checkpoint.pin}: ${identities.length} identities, ${released} placeholders, ` +
        `${backups} backups, written ${checkpoint.time}`,
    },
  ];
  if (pin !== undefined && !isSamePin(pin, checkpoint.pin)) {
    findings.push({
      check: 'state-pin',
      severity: 'medium',
      message: `${directory} belongs to another pin, ${checkpoint.pin}: what keeps state refuses to work on ${pin}`,
      hint: 'give this map a directory of its own with --state-dir',
    });
  }
  if (writer !== undefined && !writer.drained && !locked) {
    findings.push({
      check: 'state-undrained',
      severity: 'low',
      message: `the last ipc listen (pid ${writer.pid}) did not stop in order: what changed in its last 10 s is not in the state`,
      hint: 'its next start restores and replays',
    });
  }
  if (pending.length > 0) {
    const errno = pending.find((write) => write.errno !== undefined)?.errno;
    findings.push({
      check: 'state-pending',
      severity: 'medium',
      message: `${pending.length} writes have not reached the map${errno === undefined ? '' : `; the kernel last answered ${errno}`}`,
      hint: locked ? 'ipc status shows them; a full map needs room' : 'ipc listen writes them when it starts',
    });
  }
  return findings;
}

/** Who may write here decides what `ipc` restores into the map. */
function checkModes(directory: string, stats: Stats): Finding[] {
  if ((stats.mode & 0o022) === 0) return [];
  return [
    {
      check: 'state-mode',
      severity: 'high',
      message: `others may write in ${directory}: its mode is 0${(stats.mode & 0o7777).toString(8)}`,
      hint: `chmod go-w ${directory}`,
    },
  ];
}

function checkLeftovers(directory: string, locked: boolean): Finding[] {
  const { checkpoint, previous } = statePaths(directory);
  const findings: Finding[] = [];
  const left = readable(directory).filter((name) => /^\..*\.tmp$/.test(name));
  if (left.length > 0 && !locked) {
    findings.push({
      check: 'state-leftover',
      severity: 'low',
      message: `a write into ${directory} was interrupted: ${left.join(', ')}`,
      hint: 'the next command that keeps state removes it; the checkpoint itself is whole',
    });
  }
  if (existsSync(previous) && !existsSync(checkpoint)) {
    findings.push({
      check: 'state-checkpoint',
      severity: 'medium',
      message: `${checkpoint} is missing and its previous generation is there`,
      hint: `to go on from it: cp ${previous} ${checkpoint}`,
    });
  }
  return findings;
}

function readable(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
