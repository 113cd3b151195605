/** `ipc diff` between its flags and its exit status. */
import type { ChangeClass } from '../diff/change-class.ts';
import type { ChangeFilter } from '../diff/change-filter.ts';
import type { DiffInput } from '../diff/diff-input.ts';
import { foretellDiff } from '../diff/foretell-diff.ts';
import type { Findings } from '../diff/judge.ts';
import { runDiff } from '../diff/run-diff.ts';
import { IncompleteError, UsageError } from '../errors.ts';
import { writeFileAtomically } from '../fs/atomic-file.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Prefix } from '../net/prefix.ts';
import { diffPage } from '../output/diff-html/diff-page.ts';
import { type DiffModel, diffView } from '../output/diff-view.ts';
import type { Sink } from '../output/sink.ts';
import { type DiffInputOptions, foretellInput } from './diff-inputs.ts';
import { countPolicyMaps } from './diff-policy-maps.ts';
import { gateError, passGate } from './gate.ts';
import { type Ignored, mergeIgnored } from './ignore-flag.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';
import type { Runtime } from './runtime.ts';
import type { SharedValues } from './shared-flags.ts';

export interface DiffRunOptions {
  readonly flags: {
    readonly by: 'numbers' | 'labels';
    readonly 'as-agent': boolean;
    readonly scope?: readonly IdentityScope[] | undefined;
    readonly within?: readonly Prefix[] | undefined;
    readonly ignore?: readonly Ignored[] | undefined;
    readonly html?: string | undefined;
    readonly 'fail-on': readonly ChangeClass[];
    readonly wait?: number | undefined;
    readonly hold?: number | undefined;
  };
  readonly shared: Pick<SharedValues, 'bpffs'>;
  readonly tcBpfMnt: string | undefined;
  readonly runtime: Runtime;
  readonly logger: Log;
  readonly signal: AbortSignal;
  readonly sink: Sink;
}

/** Between the two readings of a live map: long enough for an agent to finish what it was doing. */
const SETTLE_MS = 2_000;

/** One way to make findings of two inputs, or of one. */
export interface DiffCheck {
  readonly before: string;
  readonly after: string;
  run(filter: ChangeFilter): Promise<Findings>;
}

/** Compares two inputs, and reads a live one twice. */
export function compareCheck([a, b]: readonly [DiffInput, DiffInput], nodes: boolean, signal: AbortSignal): DiffCheck {
  const settle = (): Promise<void> => pause(SETTLE_MS, signal);
  return { before: a.label, after: b.label, run: (filter) => runDiff(a, b, { nodes, filter, settle }) };
}

/** Foretells what an agent will make of one input. */
export function foretellCheck(word: string, options: DiffInputOptions): DiffCheck {
  return {
    before: word,
    after: 'an agent that starts next',
    run: async (filter) => foretellDiff(await foretellInput(word, options), filter),
  };
}

/** Makes the check, prints the report and the page. @throws {FindingError} {IncompleteError} afterwards */
export async function runDiffCommand({ before, after, run }: DiffCheck, options: DiffRunOptions): Promise<void> {
  const { flags, shared, runtime, logger, signal, sink, tcBpfMnt } = options;
  const { scope = [], within = [], ignore = [] } = flags;
  const filter = { scopes: scope, within, ...mergeIgnored(ignore) };
  const failing = new Set(flags['fail-on']);
  const { model: findings, failures } = await passGate<Findings>({
    check: async () => {
      const made = await run(filter);
      requireComparable(made);
      return made;
    },
    failures: (model) => model.countOf(failing),
    waitMs: flags.wait,
    holdMs: flags.hold,
    now: runtime.now,
    signal,
    logger,
  });
  const policyMaps = await countPolicyMaps(findings, { bpffs: shared.bpffs, tcBpfMnt, logger, signal });
  const model: DiffModel = { before, after, by: flags['as-agent'] ? 'agent' : flags.by, findings, policyMaps };
  if (flags.html !== undefined) await writeFileAtomically(flags.html, diffPage(model));
  await sink.report(diffView, model);
  const errors = [...incomplete(model), ...(failures > 0 ? [gateError('the comparison', failures)] : [])];
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
}

/** @throws {UsageError} where one side's addresses were replaced and the other's were not */
function requireComparable({ comparison: { before, after } }: Findings): void {
  if (before.header.redacted === after.header.redacted) return;
  throw new UsageError('Cannot compare: only one of them is redacted', {
    code: 'DIFF_REDACTED',
    hint: 'redact both with one key, or neither: ipc snapshot --from FILE --redact',
  });
}

function incomplete({ before, after, findings: { comparison } }: DiffModel): IncompleteError[] {
  const sides = [
    ...(comparison.before.complete ? [] : [before]),
    ...(comparison.after.complete || comparison.after === comparison.before ? [] : [after]),
  ];
  return sides.map(
    (side) =>
      new IncompleteError(`Cannot compare all of ${side}: not all of its entries were read`, {
        code: 'WALK_INCOMPLETE',
        hint: 'what is said to be missing may be there; run it again when the map changes less',
      }),
  );
}
