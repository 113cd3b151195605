/**
 * The gate that `diff` and `doctor` put in scripts: what counts as a failure, how long to wait for it
 * to go away, and how long it must stay away. After an upgrade the failures come when the agent's grace period ends.
 */
import * as Flags from '@oclif/core/flags';
import { SEVERITIES, type Severity } from '../check/finding.ts';
import { EXIT, FindingError, ToolError } from '../errors.ts';
import { durationFlag } from './flags.ts';
import type { Log } from './log.ts';
import { pause } from './pause.ts';

const helpGroup = 'GATE';
/** --fail-on as a list of the command's own words, --wait and --hold. */
export function gateFlags<Word extends string>(words: readonly Word[], byDefault: readonly Word[]) {
  return {
    'fail-on': Flags.option({
      options: words,
      multiple: true,
      default: [...byDefault],
      summary: 'what makes the exit status 10',
      helpGroup,
    })(),
    wait: durationFlag({ summary: 'repeat until there is nothing of it, at most so long', helpGroup }),
    hold: durationFlag({ summary: 'then it must stay so for so long', helpGroup }),
  };
}

/** As `gateFlags`, by severity: the one given and everything above it. */
export function severityGateFlags() {
  return gateFlags<Severity>(SEVERITIES, ['high']);
}

/** Of several severities the lowest one decides. */
export function leastSeverity(severities: readonly Severity[]): Severity {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? 'high';
}

export interface Gate<Model> {
  /** One round of the check. */
  readonly check: () => Promise<Model>;
  /** How many things in the model make it fail; 0 is clean. */
  readonly failures: (model: Model) => number;
  readonly waitMs?: number | undefined;
  readonly holdMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly logger: Log;
  /** Milliseconds since any fixed moment. */
  readonly now: () => number;
}

export interface GateResult<Model> {
  readonly model: Model;
  readonly failures: number;
}

/** Between two rounds; a round that takes long is not repeated as often. */
const INTERVAL_MS = 1000;
const IDLE_SHARE = 4;
/** How often in a row the check may fail to be made while it holds: a pin that is being replaced is no finding. */
const MAX_MISSES = 3;
/** What goes away by itself while an agent restarts or a map is replaced. */
const TRANSIENT: readonly number[] = [EXIT.notFound, EXIT.incomplete, EXIT.unreachable];

/**
 * Repeats the check as --wait and --hold say; without them it is made once.
 * @returns the last model: clean for the whole of --hold, or the one that decides against it
 * @throws {ToolError} what the check throws, when it still does at the end of --wait
 */
export async function passGate<Model>(gate: Gate<Model>): Promise<GateResult<Model>> {
  const { waitMs = 0, holdMs = 0, now, signal, logger } = gate;
  const giveUp = now() + waitMs;
  let cleanSince: number | undefined;
  let said: string | undefined;
  let misses = 0;
  for (;;) {
    const began = now();
    const round = await tryRound(gate, cleanSince === undefined ? began < giveUp : misses < MAX_MISSES);
    const ended = now();
    misses = round === undefined ? misses + 1 : 0;
    const clean = round !== undefined && round.failures === 0;
    if (clean) cleanSince ??= ended;
    if (round !== undefined) {
      if (clean ? ended - (cleanSince ?? ended) >= holdMs : cleanSince !== undefined || ended >= giveUp) return round;
      if (signal.aborted) return round;
    }
    const state = clean
      ? `nothing found; it must stay so for ${holdMs / 1000} s`
      : `waiting: ${words(round?.failures)}`;
    if (state !== said) logger.info(state);
    said = state;
    const end = cleanSince === undefined ? giveUp : cleanSince + holdMs;
    await pause(Math.min(Math.max(INTERVAL_MS, IDLE_SHARE * (ended - began)), Math.max(1, end - ended)), signal);
  }
}

/** The failure to throw after the report has been printed. @param subject completes *Cannot pass* */
export function gateError(subject: string, failures: number): FindingError {
  return new FindingError(`Cannot pass ${subject}: ${words(failures)}`, {
    hint: 'the report names each of them; --fail-on chooses what counts',
    operands: { findings: failures },
  });
}

/** @returns undefined for a failure that may go away and may still be waited for */
async function tryRound<Model>(
  { check, failures, signal }: Gate<Model>,
  mayWait: boolean,
): Promise<GateResult<Model> | undefined> {
  try {
    const model = await check();
    return { model, failures: failures(model) };
  } catch (error) {
    if (mayWait && !signal.aborted && error instanceof ToolError && TRANSIENT.includes(error.exitCode))
      return undefined;
    throw error;
  }
}

function words(failures: number | undefined): string {
  if (failures === undefined) return 'the check cannot be made yet';
  return failures === 1 ? '1 finding' : `${failures} findings`;
}
