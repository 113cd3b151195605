/** What happened to one entry between two readings of one node. Pure; the whole is judged in migrations.ts. */
import { IDENTITY_WORLD, IDENTITY_WORLD_IPV4, IDENTITY_WORLD_IPV6 } from '../identity/reserved.ts';
import { FLAG } from '../ipcache/layout.ts';
import type { Family } from '../net/address.ts';
import { classBit } from './change-class.ts';
import type { ChangeValues, EntrySide } from './change-table.ts';
import { compareLabels } from './compare-labels.ts';

/** Labels of a number as one side knows them. */
export type LabelsOf = (identity: number) => readonly string[] | undefined;

export interface ClassifyOptions {
  readonly labelsBefore: LabelsOf;
  readonly labelsAfter: LabelsOf;
  /** Flag bits that one side's layout cannot have at all. */
  readonly migratedFlags: number;
}

export interface Classified {
  /** A set of classes. */
  readonly classes: number;
  /** What is explained by a migration and therefore in no class. */
  readonly worldSplit: boolean;
  readonly migratedFlags: boolean;
}

/** Bits that say nothing but what the tunnel endpoint says already. */
export const TUNNEL_FLAGS = FLAG.hastunnel | FLAG.ipv6tunnel;

/** Judges one change by itself. */
export function classifyChange(change: ChangeValues, options: ClassifyOptions): Classified {
  const { before, after, family } = change;
  if (before === undefined) return only(classBit('added'));
  if (after === undefined) return only(classBit('removed'));
  const worldSplit = isWorldSplit(before.identity, after.identity, family);
  const { classes, migratedFlags } = classifyFields(before, after, options.migratedFlags);
  const identity =
    worldSplit || before.identity === after.identity ? 0 : classifyIdentity(before.identity, after.identity, options);
  return { classes: classes | identity, worldSplit, migratedFlags };
}

/** A number that became another one, and what its labels say to that. */
function classifyIdentity(before: number, after: number, { labelsBefore, labelsAfter }: ClassifyOptions): number {
  const had = labelsBefore(before);
  const has = labelsAfter(after);
  const lost = had !== undefined && has !== undefined && compareLabels(had, has).kind === 'cidr-lost';
  return classBit('renumbered') | (lost ? classBit('cidr-label-lost') : 0);
}

function classifyFields(
  before: EntrySide,
  after: EntrySide,
  unknownToOne: number,
): { classes: number; migratedFlags: boolean } {
  let classes = 0;
  const retunnelled = before.tunnelEndpoint !== after.tunnelEndpoint;
  if (retunnelled) classes |= classBit('retunnelled');
  if (before.encryptKey !== after.encryptKey) classes |= classBit('rekeyed');
  const differing = (before.flags ^ after.flags) & ~(retunnelled ? TUNNEL_FLAGS : 0);
  if ((differing & ~unknownToOne) !== 0) classes |= classBit('reflagged');
  return { classes, migratedFlags: (differing & unknownToOne) !== 0 };
}

/** Whether the outside world is told apart by family on one side only. */
export function isWorldSplit(before: number, after: number, family: Family): boolean {
  const split = family === 'ipv4' ? IDENTITY_WORLD_IPV4 : IDENTITY_WORLD_IPV6;
  return (before === IDENTITY_WORLD && after === split) || (before === split && after === IDENTITY_WORLD);
}

function only(classes: number): Classified {
  return { classes, worldSplit: false, migratedFlags: false };
}
