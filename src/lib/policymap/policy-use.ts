/** Which endpoints' policy maps hold a number: who is hurt when it changes. Read only. */
import type { BpfMap } from '../bpf/map.ts';
import { openPin } from '../bpf/open-pin.ts';
import { NotFoundError, ToolError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';
import { type PolicyPin, policyPins } from './policy-pins.ts';
import { decodePolicyRule, type PolicyRule, policyIdentity } from './policy-rule.ts';
import { policyKeyLayout, walkPolicyMap } from './walk-policy-map.ts';

export interface PolicyUseOptions {
  readonly kernel: Kernel;
  /** bpffs roots, as `bpffsRoots` gives them. */
  readonly roots: readonly string[];
  /** The only numbers wanted; absent: all. */
  readonly ids?: ReadonlySet<number> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PolicyReading {
  /** Maps that were read. */
  readonly maps: number;
  /** What could not be read, or not to its end: one sentence each. */
  readonly problems: readonly string[];
}

/** Calls `visit` with every rule for the numbers, endpoint after endpoint. An endpoint that goes meanwhile is no problem. */
export async function visitPolicyRules(
  options: PolicyUseOptions,
  visit: (rule: PolicyRule) => void,
): Promise<PolicyReading> {
  const problems: string[] = [];
  let maps = 0;
  for (const pin of policyPins(options.roots)) {
    if (options.signal?.aborted) break;
    try {
      const problem = await visitPin(pin, options, visit);
      if (problem !== undefined) problems.push(problem);
      maps++;
    } catch (error) {
      if (error instanceof NotFoundError) continue;
      if (!(error instanceof ToolError)) throw error;
      problems.push(error.message);
    }
  }
  return { maps, problems };
}

/** Number → endpoints that have it in their policy map; what a plan says about a number that would change. */
export async function policyEndpoints(
  options: PolicyUseOptions,
): Promise<PolicyReading & { readonly endpoints: ReadonlyMap<number, ReadonlySet<number>> }> {
  const endpoints = new Map<number, Set<number>>();
  const reading = await visitPolicyRules(options, ({ identity, endpoint }) => {
    const known = endpoints.get(identity);
    if (known === undefined) endpoints.set(identity, new Set([endpoint]));
    else known.add(endpoint);
  });
  return { ...reading, endpoints };
}

async function visitPin(
  pin: PolicyPin,
  { kernel, ids, signal }: PolicyUseOptions,
  visit: (rule: PolicyRule) => void,
): Promise<string | undefined> {
  using map: BpfMap = openPin(pin.path, { kernel });
  const layout = policyKeyLayout(map);
  if (layout === undefined) {
    const { type, keyBytes, valueBytes } = map.info;
    return `${map.label} is no policy map that is known: type ${type}, keys of ${keyBytes}, values of ${valueBytes} bytes`;
  }
  const reason = await walkPolicyMap(
    map,
    (keys, keyAt, values, valueAt) => {
      if (ids !== undefined && !ids.has(policyIdentity(layout, keys, keyAt))) return;
      visit(decodePolicyRule(layout, pin.endpoint, { keys, keyAt, values, valueAt }));
    },
    signal,
  );
  return reason === undefined ? undefined : `Cannot list all of ${map.label}: ${reason}`;
}
