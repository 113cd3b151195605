/** What the flags of `ipc dump` mean together. */
import { UsageError } from '../errors.ts';
import type { LabelResolver } from '../identity/label-resolver.ts';
import { labelsSatisfy, parseLabelSelectors } from '../identity/label-selector.ts';
import type { OutputFormat } from '../output/format.ts';

interface DumpFlags {
  readonly count: boolean;
  readonly labels: boolean;
  readonly raw: boolean;
  readonly trailer: boolean;
  readonly label?: readonly string[] | undefined;
  readonly sort?: string | undefined;
}

const COUNTABLE: readonly OutputFormat[] = ['table', 'json', 'ndjson'];
/** These print what other tools print, and those print no labels. */
const FOREIGN: readonly OutputFormat[] = ['cilium', 'bpftool'];

/** @throws {UsageError} for flags that contradict each other or the format */
export function checkDumpFlags(flags: DumpFlags, output: OutputFormat): void {
  if (flags.trailer && output !== 'ndjson') throw conflict('--trailer', `-o ${output}`, 'it belongs to -o ndjson');
  if (flags.count && !COUNTABLE.includes(output))
    throw conflict('--count', `-o ${output}`, 'use table, json or ndjson');
  if (flags.count && flags.sort !== undefined) throw conflict('--count', '--sort', 'leave out one of the two');
  if (flags.count && flags.raw) throw conflict('--count', '--raw', 'leave out one of the two');
  if (flags.raw && FOREIGN.includes(output)) throw conflict('--raw', `-o ${output}`, 'use table, json, ndjson or csv');
  if (flags.label?.length && !flags.labels) throw conflict('--label', '--no-labels', 'leave out one of the two');
}

/** Whether anything needs the labels of numbers. */
export function showsLabels({ label, count }: DumpFlags, output: OutputFormat): boolean {
  return label?.length ? true : !count && !FOREIGN.includes(output);
}

/** @returns undefined where no label is asked for. @throws {UsageError} BAD_LABEL */
export function labelFilter(
  texts: readonly string[] | undefined,
  resolver: LabelResolver | undefined,
): ((identity: number) => boolean) | undefined {
  if (!texts?.length) return undefined;
  const selectors = parseLabelSelectors(texts);
  const known = new Map<number, boolean>();
  return (identity) => {
    let satisfied = known.get(identity);
    if (satisfied === undefined) {
      const found = resolver?.find(identity);
      satisfied = found !== undefined && labelsSatisfy(found.labels, selectors);
      known.set(identity, satisfied);
    }
    return satisfied;
  };
}

function conflict(flag: string, other: string, hint: string): UsageError {
  return new UsageError(`Cannot use ${flag} with ${other}: they exclude each other`, { code: 'FLAG_CONFLICT', hint });
}
