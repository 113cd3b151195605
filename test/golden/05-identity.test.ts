import { describe, expect, test } from 'vitest';
import { ToolError } from '../../src/lib/errors.ts';
import { scopeForLabels } from '../../src/lib/identity/label-scope.ts';
import { Labels } from '../../src/lib/identity/labels.ts';
import { labelsModel } from '../../src/lib/identity/labels-format.ts';
import type { Identity } from '../../src/lib/identity/local-allocator.ts';
import * as numeric from '../../src/lib/identity/numeric-identity.ts';
import {
  IDENTITY_UNKNOWN,
  isClusterIdentity,
  isWorldIdentity,
  RESERVED_ROWS,
  reservedByName,
  worldIdentityOf,
} from '../../src/lib/identity/reserved.ts';
import {
  isReservedSet,
  ReservedIdentities,
  type ReservedIdentitiesOptions,
} from '../../src/lib/identity/reserved-identities.ts';
import type { WellKnownSettings } from '../../src/lib/identity/well-known.ts';
import { parseAddress } from '../../src/lib/net/address.ts';
import { type GoldenOptions, goldenOptions } from './identity-cases.ts';
import { loadTopic } from './load.ts';

interface Input {
  readonly op: string;
  readonly id?: number;
  readonly options?: GoldenOptions;
  readonly maxConnectedClusters?: number;
  readonly name?: string;
  readonly s?: string;
  readonly clusterID?: number;
  readonly addr?: string;
  readonly labels?: readonly string[];
  readonly userReserved?: Readonly<Record<string, string>>;
  readonly wellKnown?: WellKnownSettings;
  readonly set?: Readonly<Record<string, string>>;
}

function row(identity: Identity | undefined) {
  return identity === undefined ? null : { id: identity.id, labels: labelsModel(identity.labels) };
}

function orError(make: () => object): object {
  try {
    return { ok: true, ...make() };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ok: false };
  }
}

function numericRow(id: number, input: Input) {
  const options = goldenOptions(input.options, input.maxConnectedClusters);
  const names = new ReservedIdentities(options);
  return {
    scope: numeric.scopeBits(id),
    hasLocalScope: numeric.hasLocalScope(id),
    hasRemoteNodeScope: numeric.hasRemoteNodeScope(id),
    isReserved: names.isReserved(id),
    isUserReserved: numeric.isUserReserved(id),
    string: names.name(id),
    stringID: String(id),
    clusterID: numeric.clusterIdOf(id, options),
    isWorld: isWorldIdentity(id, options),
    isCluster: isClusterIdentity(id, options),
  };
}

function addUserReserved(set: Readonly<Record<string, string>>): object {
  return orError(() => {
    const names = new ReservedIdentities(goldenOptions(), { userReserved: set });
    const [text = ''] = Object.keys(set);
    const id = numeric.parseNumericIdentity(text);
    const lookup = names.lookupById(id)?.labels ?? Labels.EMPTY;
    return { id, string: names.name(id), isReserved: names.isReserved(id), lookup: labelsModel(lookup) };
  });
}

function labelsIdentity(input: Input): object {
  const labels = Labels.parse(input.labels ?? []);
  const extra: ReservedIdentitiesOptions = {
    ...(input.userReserved && { userReserved: input.userReserved }),
    ...(input.wellKnown && { wellKnown: input.wellKnown }),
  };
  const reserved = new ReservedIdentities(goldenOptions(input.options), extra).lookupByLabels(labels);
  return {
    scope: scopeForLabels(labels),
    reserved: row(reserved),
    isReservedLabels: isReservedSet(labels),
    allocationIsLocal: reserved !== undefined,
  };
}

function run(input: Input): object {
  const clusters = goldenOptions({}, input.maxConnectedClusters);
  switch (input.op) {
    case 'numericIdentity':
      return numericRow(input.id ?? 0, input);
    case 'getReservedID':
      return { id: reservedByName(input.name ?? '') ?? IDENTITY_UNKNOWN };
    case 'allReserved': {
      const names = new ReservedIdentities(goldenOptions());
      const ids = RESERVED_ROWS.map(({ id }) => id).filter((id) => id !== IDENTITY_UNKNOWN);
      const labels = ids.map((id) => [String(id), labelsModel(names.lookupById(id)?.labels ?? Labels.EMPTY)]);
      return { ids, labels: Object.fromEntries(labels) };
    }
    case 'parseNumericIdentity':
      return orError(() => ({ id: numeric.parseNumericIdentity(input.s ?? '') }));
    case 'allocationRange': {
      const bits = numeric.clusterIdBits(clusters);
      return { ...numeric.allocationRange(input.clusterID ?? 0, clusters), bits, shift: 24 - bits };
    }
    case 'localRange':
      return {
        minAllocator: numeric.MIN_LOCAL_INDEX,
        maxAllocator: numeric.MAX_LOCAL_INDEX,
        minLocal: numeric.SCOPE_LOCAL | numeric.MIN_LOCAL_INDEX,
        maxLocal: numeric.SCOPE_LOCAL | numeric.MAX_LOCAL_INDEX,
        minimal: numeric.MIN_GLOBAL,
        scopeGlobal: numeric.SCOPE_GLOBAL,
        scopeLocal: numeric.SCOPE_LOCAL,
        scopeRemoteNode: numeric.SCOPE_REMOTE_NODE,
        userReserved: numeric.MIN_USER_RESERVED,
      };
    case 'worldIdentityFromIP': {
      const address = parseAddress(input.addr ?? '');
      if (address === undefined) throw new Error(`${input.addr} is no address`);
      return { id: worldIdentityOf(address, goldenOptions(input.options)) };
    }
    case 'labelsIdentity':
      return labelsIdentity(input);
    case 'addUserReserved':
      return addUserReserved(input.set ?? {});
    default:
      throw new Error(`unknown op ${input.op}`);
  }
}

describe('golden 05 identity', () => {
  for (const { name, input, expect: wanted } of loadTopic<Input>('05-identity').cases) {
    test(name, () => {
      const { error: _text, ...comparable } = wanted;
      expect(run(input)).toEqual(comparable);
    });
  }
});
