/** What a command that writes does with one prefix: the same shape in every plan and result. */
import type { IpcacheEntry } from '../ipcache/entry.ts';

export interface PlanItem {
  readonly action: 'add' | 'update' | 'delete' | 'keep' | 'skip' | 'conflict';
  readonly prefix: string;
  readonly identity?: number | undefined;
  /** A word from the command's list, plus detail. */
  readonly reason: string;
  /** What answers for the prefix after a delete: `10.0.0.0/8 world`; absent: nothing. */
  readonly fallsTo?: string | undefined;
  /** What the entry was. */
  readonly before?: IpcacheEntry | undefined;
  /** Bytes of the entry as it is written or deleted. */
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  /** In how many policy maps the number stands that changes or goes; null where they could not all be read. */
  readonly policyMaps?: number | null | undefined;
  /** `source:key=value`, where it matters what is known of the number. */
  readonly labels?: readonly string[] | undefined;
  readonly labelsFrom?: string | undefined;
  readonly done: boolean;
}

/** The map of a plan, as reports name it. */
export interface PlanMap {
  readonly id: number;
  readonly pin?: string | undefined;
  readonly layout: string;
  readonly owner: 'agent' | 'ipc' | 'nobody' | 'unknown';
  /** Loaded programs that hold it; null where they could not be seen. */
  readonly programs: number | null;
}
