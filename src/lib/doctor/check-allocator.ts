/** The agent's allocator checkpoint: the only place that knows which labels a local number stands for. */
import { statSync } from 'node:fs';
import type { Finding } from '../check/finding.ts';
import { ToolError } from '../errors.ts';
import { readCheckpoint } from '../identity/checkpoint.ts';

const CHECK = 'allocator-checkpoint';

/** @param path where the agent keeps it @param now milliseconds since the epoch */
export function checkAllocator(path: string, now: number): Finding {
  try {
    const records = readCheckpoint(path);
    if (records === undefined) {
      return {
        check: CHECK,
        severity: 'info',
        message: `there is no allocator checkpoint at ${path}: numbers of local identities cannot be given labels`,
        hint: 'normal without a cilium-agent, or before it has allocated any; --allocator-state names another file',
      };
    }
    const age = Math.max(0, Math.round((now - statSync(path).mtimeMs) / 1000));
    return {
      check: CHECK,
      severity: 'info',
      message: `${path} has ${records.length} ${records.length === 1 ? 'identity' : 'identities'}, written ${age} s ago`,
    };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const unreadable = error.exitCode === 5;
    return {
      check: CHECK,
      severity: unreadable ? 'low' : 'high',
      message: error.message,
      hint: unreadable
        ? 'run as root, or name a copy with --allocator-state'
        : 'the agent will start without it and give new numbers; ipc restore --write-allocator-state makes it again from the map',
    };
  }
}
