/** What an agent loop is made of, and what can be asked of it while it runs. */
import type { BpfMap } from '../bpf/map.ts';
import type { IpcacheEvent } from '../cache/listener.ts';
import type { TunnelRules } from '../datapath/tunnel-endpoint.ts';
import type { IdentityOptions } from '../identity/options.ts';
import type { LayoutName } from '../ipcache/layout.ts';
import type { Kernel } from '../native/kernel.ts';
import type { Operation } from '../owner/operations.ts';
import type { Source } from '../sources/source.ts';
import type { Clock } from './clock.ts';
import type { TellLoop } from './loop-event.ts';
import type { NodeFamilies } from './source-feed.ts';

export interface LoopSource {
  readonly source: Source;
  /** As the user wrote it. */
  readonly reference: string;
}

export interface LoopSetup {
  readonly kernel: Kernel;
  /** Absolute path on bpffs. */
  readonly pin: string;
  readonly stateDirectory: string;
  /** `--layout`. */
  readonly layout: LayoutName | undefined;
  /** Of a map that is made. */
  readonly maxEntries: number | undefined;
  readonly mapFlags: number | undefined;
  readonly recreate: boolean;
  readonly restore: boolean;
  readonly sources: readonly LoopSource[];
  readonly node: NodeFamilies;
  readonly rules: TunnelRules;
  readonly identities: IdentityOptions;
  readonly graceMs: number;
  readonly stopTimeoutMs: number;
  /** Undefined: sources are waited for as long as they take. */
  readonly requireSyncMs: number | undefined;
  readonly gcIntervalMs: number;
  readonly allowGap: boolean;
  readonly reassert: boolean;
  readonly clock: Clock;
  /** 0 up to but not including 1. */
  readonly random: () => number;
  readonly tell: TellLoop;
  /** Ends the run in order. */
  readonly signal: AbortSignal;
  readonly clusterName: string | undefined;
  readonly bootId: string;
  readonly pid: number;
  /** Why the map must not be written, or undefined; asked before the first write and whenever another map is there. */
  readonly refusal: (operation: Operation, map: BpfMap) => Promise<Error | undefined>;
  readonly onLatency: (seconds: number) => void;
  /** Every change once its write is done; undefined when nobody follows. */
  readonly onOutcome?: ((event: IpcacheEvent, isApplied: boolean) => void) | undefined;
}

/** Totals of a run that has ended. */
export interface LoopSummary {
  readonly map: { readonly id: number; readonly pin: string; readonly layout: string };
  readonly events: number;
  readonly rejected: number;
  readonly badLines: number;
  readonly written: number;
  readonly deleted: number;
  readonly pending: number;
  readonly entries: number;
}
