/** How commands come from their flags to the labels of numbers. */
import * as Flags from '@oclif/core/flags';
import { ToolError } from '../errors.ts';
import { allocatorLabels } from '../identity/allocator-labels.ts';
import { DEFAULT_CHECKPOINT_PATH } from '../identity/checkpoint.ts';
import { LabelResolver, type LabelSource } from '../identity/label-resolver.ts';
import type { Log } from './log.ts';

export const allocatorStateFlag = Flags.string({
  summary: `allocator checkpoint that labels are joined from (default: ${DEFAULT_CHECKPOINT_PATH})`,
  helpValue: 'FILE',
});

/** `static override flags = commandFlags({ …, ...labelFlags })`, of every command that shows entries. */
export const labelFlags = {
  'allocator-state': allocatorStateFlag,
  labels: Flags.boolean({ summary: 'join labels', default: true, allowNo: true }),
};

export interface UseLabels {
  readonly flags: { readonly 'allocator-state'?: string | undefined; readonly labels: boolean };
  readonly logger: Log;
  /** The only numbers that will be asked for, which makes it fast for a few; absent: any. */
  readonly ids?: Iterable<number> | undefined;
  /** Further places that know labels, asked after the checkpoint. */
  readonly sources?: readonly LabelSource[];
}

/**
 * Opens what labels are joined from. A checkpoint that cannot be read costs the labels and a warning, never the view;
 * that there is none is normal, unless the user named it.
 * @returns undefined with --no-labels
 */
export function useLabels({ flags, logger, ids, sources = [] }: UseLabels): LabelResolver | undefined {
  if (!flags.labels) return undefined;
  const path = flags['allocator-state'] ?? DEFAULT_CHECKPOINT_PATH;
  try {
    const source = allocatorLabels(path, ids);
    if (source !== undefined) return new LabelResolver([source, ...sources]);
    if (flags['allocator-state'] !== undefined) logger.warn(`no labels joined: there is no file ${path}`);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    logger.warn(`no labels joined: ${error.message}`, error.operands);
  }
  return new LabelResolver(sources);
}
