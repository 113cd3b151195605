import { describe, expect, test } from 'vitest';
import { newResourceID, resourceNamespace } from '../../src/lib/cache/resource-id.ts';
import { MalformedError } from '../../src/lib/errors.ts';
import {
  addrClusterAs20,
  addrClusterAsPrefixCluster,
  compareAddrClusters,
  formatAddrCluster,
  isUnspecified,
  marshalAddrCluster,
  parseAddrCluster,
  unmarshalAddrCluster,
} from '../../src/lib/net/addr-cluster.ts';
import { formatNetipAddr, formatNetipPrefix, parseNetipAddr, ZERO_ADDR } from '../../src/lib/net/netip.ts';
import {
  annotateIPCacheKeyWithClusterID,
  canonicalPrefixCluster,
  formatPrefixCluster,
  isSingleIP,
  newPrefixCluster,
  type PrefixCluster,
  parsePrefixCluster,
} from '../../src/lib/net/prefix-cluster.ts';
import { loadTopic } from './load.ts';

type Input = Partial<Record<'op' | 's' | 'addr' | 'json' | 'a' | 'b' | 'key' | 'kind' | 'namespace' | 'name', string>> &
  Partial<Record<'bits' | 'clusterID', number>>;

const addrOf = (text = '') => (text === '' ? ZERO_ADDR : parseNetipAddr(text));

/** The result in the shape of the case, or only the class of the refusal. */
function attempt(run: () => Record<string, unknown>): Record<string, unknown> {
  try {
    return { ok: true, ...run() };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { ok: false, errorClass: error.code.toLowerCase().replaceAll('_', '-') };
  }
}

function describePrefix(value: PrefixCluster): Record<string, unknown> {
  const { addr, bits } = value.prefix;
  const canonical = canonicalPrefixCluster(value);
  return {
    string: formatPrefixCluster(value),
    clusterID: value.clusterId,
    prefix: formatNetipPrefix(value.prefix),
    bits,
    is4: addr.bytes.length === 4,
    is6: addr.bytes.length === 16,
    valid: bits >= 0,
    singleIP: isSingleIP(value),
    addrCluster: formatAddrCluster({ addr, clusterId: value.clusterId }),
    canonical: formatPrefixCluster(canonical),
    isCanonical: formatPrefixCluster(canonical) === formatPrefixCluster(value),
  };
}

function run(input: Input): Record<string, unknown> {
  const { s = '', addr, clusterID = 0, bits = 0, key = '', json = '', a = '', b = '' } = input;
  switch (input.op) {
    case 'parsePrefixCluster':
      return attempt(() => describePrefix(parsePrefixCluster(s)));
    case 'newPrefixCluster':
      return describePrefix(newPrefixCluster(addrOf(addr), bits, clusterID));
    case 'parseAddrCluster':
      return attempt(() => {
        const value = parseAddrCluster(s);
        return {
          string: formatAddrCluster(value),
          clusterID: value.clusterId,
          addr: formatNetipAddr(value.addr),
          is4: value.addr.bytes.length === 4,
          is6: value.addr.bytes.length === 16,
          unspecified: isUnspecified(value),
          as20: Buffer.from(addrClusterAs20(value)).toString('hex'),
          prefixCluster: formatPrefixCluster(addrClusterAsPrefixCluster(value)),
          netIP: Buffer.from(value.addr.bytes).toString('hex'),
        };
      });
    case 'marshalAddrCluster':
      return attempt(() => ({ json: marshalAddrCluster({ addr: addrOf(addr), clusterId: clusterID }) }));
    case 'unmarshalAddrCluster':
      return attempt(() => {
        const value = unmarshalAddrCluster(json);
        const text = value.addr.bytes.length === 0 ? '' : formatNetipAddr(value.addr);
        return { addr: text, clusterID: value.clusterId };
      });
    case 'compareAddrCluster': {
      const compare = compareAddrClusters(parseAddrCluster(a), parseAddrCluster(b));
      return { compare, equal: compare === 0, less: compare < 0 };
    }
    case 'annotateIPCacheKey':
      return { key: annotateIPCacheKeyWithClusterID(key, clusterID) };
    case 'newResourceID': {
      const id = newResourceID(input.kind ?? '', input.namespace ?? '', input.name ?? '');
      return { id, namespace: resourceNamespace(id) };
    }
    default:
      throw new Error(`no such operation ${input.op}`);
  }
}

const topic = loadTopic<Input>('03-cmtypes');

describe(topic.topic, () => {
  for (const [index, { name, input, expect: wanted }] of topic.cases.entries()) {
    test(`${index} ${name}`, () => {
      const { error: _goText, ...facts } = wanted;
      expect(run(input)).toMatchObject(facts);
    });
  }
});
