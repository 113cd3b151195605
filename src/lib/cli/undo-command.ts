/** The command that takes back what was deleted, as it can be typed. */
import type { PlanMap } from '../change/plan-item.ts';
import { DEFAULT_STATE_DIRECTORY } from '../state/paths.ts';
import type { SharedValues } from './shared-flags.ts';

export interface UndoContext {
  /** Flags of the command that deleted. */
  readonly shared: Pick<SharedValues, 'state-dir' | 'layout'>;
  readonly soleWriter: boolean;
}

/** With the flags without which `ipc set` would refuse on this map, or look for its state elsewhere. */
export function undoCommand(backup: string, map: PlanMap, { shared, soleWriter }: UndoContext): string {
  const words = ['ipc', 'set', '--from-backup', backup, '--map', map.pin ?? `id:${map.id}`];
  if (shared['state-dir'] !== DEFAULT_STATE_DIRECTORY) words.push('--state-dir', shared['state-dir']);
  if (shared.layout !== undefined) words.push('--layout', shared.layout);
  if (map.owner === 'agent') words.push('--override-owner');
  if (soleWriter) words.push('--sole-writer');
  return words.map(quoted).join(' ');
}

/** As a shell reads it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
