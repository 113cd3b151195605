/** The flags of `ipc restore`, and which of them make no sense together. */
import * as Flags from '@oclif/core/flags';
import { UsageError } from '../errors.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../identity/checkpoint.ts';
import { ageFlag, countFlag } from './flags.ts';
import { overrideOwnerFlag, programsWillReloadFlag, soleWriterFlag } from './use-owner.ts';

const TARGET = 'TARGET';
const SOURCE = 'SOURCE';
const HAND_OVER = 'HAND-OVER';

export const restoreFlags = {
  from: Flags.string({
    summary: 'read this snapshot instead of the map (- is standard input)',
    helpValue: 'FILE',
    helpGroup: SOURCE,
  }),
  'allocator-state': Flags.string({
    summary: `the agent's allocator checkpoint (default: ${DEFAULT_CHECKPOINT_PATH})`,
    helpValue: 'FILE',
    helpGroup: SOURCE,
  }),
  'max-age': ageFlag({
    summary: 'how old a snapshot may be that is put onto a map that is there',
    default: 3_600_000,
    defaultHelp: async () => '1h',
    helpGroup: SOURCE,
  }),
  foreign: Flags.boolean({ summary: 'the snapshot may be of another machine', helpGroup: SOURCE }),
  to: Flags.string({ summary: 'write to this pin, and make it if it is missing', helpValue: 'PIN', helpGroup: TARGET }),
  recreate: Flags.boolean({
    summary: 'fill a new map, compare it, and rename its pin over the old one',
    helpGroup: TARGET,
  }),
  all: Flags.boolean({
    summary: 'carry over every entry, also what an agent would announce again',
    helpGroup: TARGET,
  }),
  'max-entries': countFlag({ summary: 'size of a new map', helpGroup: TARGET }),
  'map-flags': Flags.string({
    summary: 'BPF_F_* flags of a new map, as a number',
    helpValue: 'FLAGS',
    helpGroup: TARGET,
  }),
  prefer: Flags.option({
    options: ['map', 'checkpoint'] as const,
    summary: 'whose number stays where both have one; checkpoint renumbers entries that are there',
    default: 'map' as const,
  })(),
  'as-agent': Flags.boolean({
    summary: 'show what an agent that starts now would make of it, and change nothing',
  }),
  'skip-ingress': Flags.boolean({ summary: 'leave out ingress addresses, as agents with delegated IPAM do' }),
  ipv4: Flags.boolean({ summary: 'IPv4 is enabled', default: true, allowNo: true }),
  ipv6: Flags.boolean({ summary: 'IPv6 is enabled', default: true, allowNo: true }),
  'hand-over': Flags.boolean({
    summary: 'prepare for an agent that starts next: no placeholders are kept',
    helpGroup: HAND_OVER,
  }),
  'write-allocator-state': Flags.string({
    summary: "write the agent's checkpoint, if that loses nothing",
    helpValue: 'FILE',
    helpGroup: HAND_OVER,
  }),
  'include-guessed': Flags.boolean({
    summary: 'write labels that were only guessed too',
    helpGroup: HAND_OVER,
  }),
  'override-owner': overrideOwnerFlag(),
  'sole-writer': soleWriterFlag(),
  'programs-will-reload': programsWillReloadFlag(),
  'all-items': Flags.boolean({ summary: 'list what stays and what rules skip, entry by entry' }),
  'dry-run': Flags.boolean({ char: 'n', summary: 'show the plan and change nothing' }),
};

/** Values of the flags after parsing. */
export interface RestoreFlagValues {
  readonly from?: string | undefined;
  readonly 'allocator-state'?: string | undefined;
  readonly 'max-age': number;
  readonly foreign: boolean;
  readonly to?: string | undefined;
  readonly recreate: boolean;
  readonly all: boolean;
  readonly 'max-entries'?: number | undefined;
  readonly 'map-flags'?: string | undefined;
  readonly prefer: 'map' | 'checkpoint';
  readonly 'as-agent': boolean;
  readonly 'skip-ingress': boolean;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  readonly 'hand-over': boolean;
  readonly 'write-allocator-state'?: string | undefined;
  readonly 'include-guessed': boolean;
  readonly 'override-owner': boolean;
  readonly 'sole-writer': boolean;
  readonly 'programs-will-reload': boolean;
  readonly 'all-items': boolean;
  readonly 'dry-run': boolean;
}

type FlagName = keyof RestoreFlagValues;

/** Flags that say the opposite of each other. */
const CONTRARY: readonly (readonly [FlagName, readonly FlagName[]])[] = [
  ['recreate', ['to']],
  ['as-agent', ['to', 'recreate', 'all', 'hand-over']],
];

/** Flags that mean nothing without another one. */
const NEEDS: readonly (readonly [FlagName, FlagName])[] = [
  ['write-allocator-state', 'hand-over'],
  ['include-guessed', 'write-allocator-state'],
];

/** @throws {UsageError} */
export function checkRestoreFlags(flags: RestoreFlagValues): void {
  const given = (name: FlagName): boolean => flags[name] !== undefined && flags[name] !== false;
  for (const [one, others] of CONTRARY) {
    const other = others.find(given);
    if (given(one) && other !== undefined) throw new UsageError(`Cannot use --${one} together with --${other}`);
  }
  for (const [one, other] of NEEDS) {
    if (given(one) && !given(other)) throw new UsageError(`Cannot use --${one}: it needs --${other}`);
  }
  if (flags.all && flags.from === undefined && flags.to === undefined && !flags.recreate) {
    throw new UsageError('Cannot restore all entries: the map that is read is the map that is written', {
      hint: 'name another pin with --to, or say --recreate',
    });
  }
  if (!flags.ipv4 && !flags.ipv6) throw new UsageError('Cannot restore anything: both families are off');
  if (flags['max-entries'] === 0) throw new UsageError('Cannot make a map of 0 entries: give --max-entries a size');
  mapFlags(flags);
}

/** The number of --map-flags. @throws {UsageError} BAD_NUMBER */
export function mapFlags({ 'map-flags': text }: Pick<RestoreFlagValues, 'map-flags'>): number | undefined {
  if (text === undefined) return undefined;
  const value = /^(0x[0-9a-fA-F]{1,8}|[0-9]{1,10})$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 0xffffffff) return value;
  throw new UsageError(`Cannot read map flags ${JSON.stringify(text)}: not a number of 32 bits`, {
    code: 'BAD_NUMBER',
    hint: 'Cilium makes the map with 0x1 up to 1.17 and with 0x81 since',
  });
}
