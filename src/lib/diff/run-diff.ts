/** One comparison of two inputs, from reading to findings. */
import { acceptsRow, type ChangeFilter, EVERYTHING } from './change-filter.ts';
import { type Comparison, compareInputs } from './compare-readings.ts';
import { confirmComparison } from './confirm.ts';
import type { DiffInput } from './diff-input.ts';
import { type Findings, type JudgeOptions, judge, withoutKeyReplacement } from './judge.ts';
import { findKeyReplacement } from './migrations.ts';

export interface DiffOptions {
  /** Compare what two nodes see, by labels. */
  readonly nodes?: boolean;
  readonly filter?: ChangeFilter;
  /** Waits before a live map is read for the second time; throws to give up. */
  readonly settle: () => Promise<void>;
}

/**
 * Compares two inputs. Where one is a live map and something is found, both are read once more, and only what was found
 * both times counts.
 * @throws {ToolError} what opening and reading the inputs throws
 */
export async function runDiff(before: DiffInput, after: DiffInput, options: DiffOptions): Promise<Findings> {
  const { nodes = false, filter = EVERYTHING } = options;
  const compare = (): Promise<Comparison> => compareInputs(before, after, { nodes, accepts: acceptsRow(filter) });
  const first = await compare();
  const judged = await judgeFully(first, after, { nodes, filter });
  if (judged.size === 0 || !(before.live || after.live)) return judged;
  await options.settle();
  return judgeFully(confirmComparison(first, await compare()), after, { nodes, filter });
}

async function judgeFully(comparison: Comparison, after: DiffInput, options: JudgeOptions): Promise<Findings> {
  const judged = judge(comparison, options);
  if (judged.counts.rekeyed === 0 || options.nodes === true) return judged;
  const keyReplacement = await findKeyReplacement(comparison.changes, after);
  return keyReplacement === undefined ? judged : withoutKeyReplacement(judged, keyReplacement);
}
