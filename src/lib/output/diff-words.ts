/** What a comparison found, in words. ASCII throughout, as half a million of them go through the escaping of JSON. */
import type { ChangeClass } from '../diff/change-class.ts';
import { CHANGE_CLASSES } from '../diff/change-class.ts';
import type { EntrySide } from '../diff/change-table.ts';
import { compareLabels } from '../diff/compare-labels.ts';
import type { EntryFinding, IdentityFinding } from '../diff/judge.ts';
import type { Migration } from '../diff/migrations.ts';
import { flagNames } from '../ipcache/flags.ts';
import { identityWords } from './identity-words.ts';

/** Labels of a number on either side. */
export interface SideLabels {
  readonly before: (identity: number) => readonly string[] | undefined;
  readonly after: (identity: number) => readonly string[] | undefined;
}

/** What to do about each kind of finding. */
export const HINTS: Readonly<Record<ChangeClass, string>> = {
  'cidr-label-lost': 'no CIDR policy selects it any more: ipc get shows what it is now',
  renumbered: 'endpoints know the old number until their policy is computed anew: ipc identity N --policy lists them',
  relabelled: 'rules for the old labels now decide about the new ones: ipc identity N shows who has it',
  removed: 'the next wider prefix answers for it: ipc get shows which',
  added: 'it hides what a wider prefix said: ipc get shows what',
  retunnelled: 'packets to it go another way: ipc get --why says who wrote it',
  rekeyed: 'both nodes must know the key, or packets are lost: cilium-dbg encrypt status on each',
  reflagged: 'ipc decode explains the flags',
};

/** What happened to an entry; its prefix is to be said before. */
export function entryWords({ classes, change }: EntryFinding, labels: SideLabels): string {
  const { before, after } = change;
  if (before === undefined || after === undefined) {
    return before === undefined ? `new, ${sideWords(after)}` : `gone, was ${sideWords(before)}`;
  }
  const parts: string[] = [];
  if (before.identity !== after.identity) {
    parts.push(`${numberWords(before.identity)} became ${numberWords(after.identity)}`);
  }
  const had = labels.before(before.identity);
  const has = labels.after(after.identity);
  if (had !== undefined && has !== undefined) parts.push(...labelWords(had, has));
  if (before.tunnelEndpoint !== after.tunnelEndpoint) {
    parts.push(`tunnel ${before.tunnelEndpoint ?? 'none'} became ${after.tunnelEndpoint ?? 'none'}`);
  }
  if (before.encryptKey !== after.encryptKey) parts.push(`encrypt key ${before.encryptKey} became ${after.encryptKey}`);
  if (classes.includes('reflagged')) parts.push(`flags ${flagWords(before.flags)} became ${flagWords(after.flags)}`);
  return parts.join(', ');
}

/** One sentence about a number. */
export function identityFindingWords({ relabelled, entries, example }: IdentityFinding): string {
  const { identity, before, after } = relabelled;
  const where = entries === 1 ? example : `${entries} entries such as ${example}`;
  return `${numberWords(identity)} on ${where}: ${labelWords(before, after).join(', ')}`;
}

/** One sentence about an expected change. */
export function migrationWords(migration: Migration): string {
  switch (migration.migration) {
    case 'map-replaced':
      return `the map was replaced: id ${migration.from} became ${migration.to}`;
    case 'world-split': {
      const { identities, entries } = migration;
      return `the world is told apart by address family on one side: ${identities} identities, ${entries} entries`;
    }
    case 'layout-flags':
      return `flags that only one of the layouts has (${flagWords(migration.flags)}): ${migration.entries} entries`;
    case 'key-replaced':
      return `encrypt key ${migration.from} replaced by ${migration.to} everywhere: ${migration.entries} entries`;
  }
}

/** `3 renumbered, 1 removed`, or `no difference`. */
export function countWords(counts: Readonly<Record<ChangeClass, number>>): string {
  const parts = CHANGE_CLASSES.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
  return parts.length === 0 ? 'no difference' : parts.join(', ');
}

function numberWords(identity: number): string {
  return `${identity} (${identityWords(identity)})`;
}

function labelWords(before: readonly string[], after: readonly string[]): string[] {
  const { added, removed } = compareLabels(before, after);
  return [...removed.map((label) => `lost ${label}`), ...added.map((label) => `got ${label}`)];
}

function sideWords(side: EntrySide | undefined): string {
  if (side === undefined) return 'nothing';
  const { identity, tunnelEndpoint, encryptKey } = side;
  const tunnel = tunnelEndpoint === undefined ? '' : `, tunnel ${tunnelEndpoint}`;
  const key = encryptKey === 0 ? '' : `, encrypt key ${encryptKey}`;
  return `${numberWords(identity)}${tunnel}${key}`;
}

function flagWords(flags: number): string {
  const names = flagNames(flags);
  return names.length === 0 ? 'none' : names.join('+');
}
