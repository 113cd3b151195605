/** What a row of the benchmark is: one file of rows/, its default export. */
import type { Cost } from './measure.ts';
import type { Workbench } from './workbench.ts';

/** A promise of the contract, and what came out. */
export interface Claim {
  /** What is compared, `wall, × C reader`. */
  readonly what: string;
  readonly measured: number;
  /** The most that is allowed; the least where `atLeast` is set. */
  readonly limit: number;
  readonly atLeast?: boolean;
}

export interface RowResult {
  readonly costs: readonly Cost[];
  readonly claims: readonly Claim[];
}

export interface BenchRow {
  /** For `--only`. */
  readonly name: string;
  /** The command that has to be in the build; a row whose command is not there is left out. */
  readonly command: string;
  run(bench: Workbench): RowResult | Promise<RowResult>;
}
