/** The names inside a state directory. */
import { join } from 'node:path';

/** Survives a reboot, unlike anything below /run. */
export const DEFAULT_STATE_DIRECTORY = '/var/lib/ipc';

export interface StatePaths {
  readonly directory: string;
  readonly checkpoint: string;
  /** The generation before, kept for the day on which the newest one is damaged. */
  readonly previous: string;
  readonly lock: string;
  readonly backups: string;
  readonly redactKey: string;
}

export function statePaths(directory: string): StatePaths {
  return {
    directory,
    checkpoint: join(directory, 'checkpoint.json'),
    previous: join(directory, 'checkpoint.json.previous'),
    lock: join(directory, 'lock'),
    backups: join(directory, 'backups'),
    redactKey: join(directory, 'redact.key'),
  };
}
