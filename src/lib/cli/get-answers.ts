/** `ipc get` between its flags and its view: one map, one or many addresses. */
import { datapathMaps } from '../bpf/datapath-maps.ts';
import type { BpfMap } from '../bpf/map.ts';
import { NoEntryError, NotPermittedError, type ToolError } from '../errors.ts';
import type { LabelResolver } from '../identity/label-resolver.ts';
import type { LayoutChoice } from '../ipcache/choose-layout.ts';
import { type Explanation, explainPrefix, lacksHostEntry } from '../ipcache/explain-prefix.ts';
import { addressBits, formatPrefix, type Prefix } from '../net/prefix.ts';
import type { GetModel } from '../output/get-view.ts';

export interface GetAnswers {
  readonly map: BpfMap;
  /** Undefined for a 12-byte map that was not walked. */
  readonly layoutChoice: LayoutChoice | undefined;
  readonly exact: boolean;
  readonly signal: AbortSignal;
  /** Opens what labels come from, knowing which numbers are needed. */
  readonly labelsFor: (ids: readonly number[]) => LabelResolver | undefined;
}

/** Who reads a map, as far as it can be seen. */
export interface Datapath {
  readonly programs: number | null;
  /** A warning when programs read another map than this one. */
  readonly warning?: string;
}

/** Looks one prefix up. */
export async function getAnswer(prefix: Prefix, datapath: Datapath, options: GetAnswers): Promise<GetModel> {
  const { map, exact, signal, labelsFor } = options;
  const explanation = await explainPrefix(map, options.layoutChoice, prefix, signal);
  const { chain, layoutChoice } = explanation;
  const found = exact && !explanation.exact ? undefined : chain[0]?.entry;
  const resolver = labelsFor(chain.map(({ entry }) => entry.identity));
  return {
    query: formatPrefix(prefix),
    map: { id: map.info.id, pin: map.path, layout: layoutChoice.layout.name, programs: datapath.programs },
    explanation,
    match: found,
    warnings: warningsOf(prefix, explanation, datapath),
    labelsOf: (identity) => resolver?.resolve(identity),
  };
}

/** Which loaded programs hold the map, and whether they hold another ipcache instead. */
export function readDatapath(map: BpfMap): Datapath {
  try {
    const maps = datapathMaps(map.kernel);
    const own = maps.find(({ info }) => info.id === map.info.id)?.programs.length ?? 0;
    const [other] = maps.filter(({ info }) => info.id !== map.info.id);
    if (other === undefined) return { programs: own };
    const held = `${other.programs.length} programs hold map id:${other.info.id}`;
    const warning = own === 0 ? `${held}, none this one: the datapath reads another map` : `${held} beside this one`;
    return { programs: own, warning };
  } catch (error) {
    if (error instanceof NotPermittedError) return { programs: null };
    throw error;
  }
}

/** @throws {NoEntryError} NO_ENTRY when nothing matched; {AggregateError} together with what else failed */
export function assertAnswered(model: GetModel, exact: boolean, failures: readonly ToolError[] = []): void {
  const all = model.match === undefined ? [...failures, notFound(model, exact)] : failures;
  const [only] = all;
  if (only !== undefined) throw all.length === 1 ? only : new AggregateError(all);
}

function notFound(model: GetModel, exact: boolean): NoEntryError {
  const [wider] = model.explanation.chain;
  const label = model.map.pin ?? `id:${model.map.id}`;
  return new NoEntryError(
    `Cannot find ${model.query} in ${label}: no entry ${exact ? 'for exactly it' : 'covers it'}`,
    {
      hint:
        wider === undefined
          ? 'the datapath has no entry for it and falls back to the identity built into its programs'
          : `what answers for it is ${wider.entry.prefix}`,
      operands: { prefix: model.query },
    },
  );
}

function warningsOf(prefix: Prefix, explanation: Explanation, datapath: Datapath): string[] {
  const warnings: string[] = [];
  if (lacksHostEntry(prefix, explanation)) {
    warnings.push(`no host entry: there is no /${addressBits(prefix.family)} for this address`);
  }
  if (datapath.warning !== undefined) warnings.push(datapath.warning);
  if (explanation.layoutChoice.by === 'assumed' || explanation.layoutChoice.by === 'content') {
    const { name } = explanation.layoutChoice.layout;
    warnings.push(`layout ${name} was told from few bytes: name the layout with --layout to be sure of key and flags`);
  }
  if (!explanation.settled) warnings.push('the entries kept changing while they were read');
  return warnings;
}
