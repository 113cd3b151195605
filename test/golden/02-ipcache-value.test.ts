import { describe, expect, test } from 'vitest';
import { numericIdentity } from '../../src/lib/identity/numeric-identity.ts';
import { ciliumFlagsString, ciliumValueString } from '../../src/lib/ipcache/cilium-value.ts';
import { type Layout, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import {
  decodeValue,
  encodeValue,
  hasTunnelBytes,
  newRemoteEndpointInfo,
  tunnelText,
} from '../../src/lib/ipcache/remote-endpoint-info.ts';
import { parseNetipAddr } from '../../src/lib/net/netip.ts';
import { loadTopic } from './load.ts';

interface Value {
  readonly securityIdentity?: number;
  readonly tunnel?: string | null;
  readonly key?: number;
  readonly flags?: number;
}

interface Input extends Value {
  readonly op: 'newValue' | 'decode' | 'newValueBatch' | 'flagsStrings';
  readonly version?: 1 | 2;
  readonly hex?: string;
  readonly items?: readonly Value[];
  readonly from?: number;
  readonly to?: number;
}

/** The last 12-byte code before v2 already had three flags; no release wrote such maps. */
const LAST_V1: Layout = { ...layoutNamed('1.16'), value: { ...layoutNamed('1.16').value, knownFlags: 0x07 } };

const layoutOf = (version = 2) => (version === 1 ? LAST_V1 : layoutNamed('v2'));

function bytesOf(layout: Layout, { securityIdentity = 0, tunnel, key = 0, flags = 0 }: Value): Uint8Array {
  const address = tunnel ? parseNetipAddr(tunnel).bytes : undefined;
  const identity = numericIdentity(securityIdentity);
  const endpoint = { identity, encryptKey: key, flags, ...(address && { tunnel: address }) };
  return encodeValue(layout, newRemoteEndpointInfo(layout, endpoint));
}

function describeValue(layout: Layout, bytes: Uint8Array): Record<string, unknown> {
  const { knownFlags } = layout.value;
  const info = decodeValue(layout, Buffer.concat([Buffer.alloc(5, 0xee), bytes]), 5);
  return {
    hex: Buffer.from(bytes).toString('hex'),
    securityIdentity: info.identity,
    tunnelBytes: Buffer.from(info.tunnelBytes ?? []).toString('hex'),
    tunnelBytesZero: !hasTunnelBytes(info),
    tunnelEndpoint: tunnelText(info),
    key: info.encryptKey,
    flags: info.flags,
    flagsString: ciliumFlagsString(info.flags, knownFlags),
    string: ciliumValueString(info, knownFlags),
  };
}

function run(input: Input): Record<string, unknown> {
  const layout = layoutOf(input.version);
  switch (input.op) {
    case 'newValue':
      return describeValue(layout, bytesOf(layout, input));
    case 'decode':
      return describeValue(layout, Buffer.from(input.hex ?? '', 'hex'));
    case 'newValueBatch': {
      const items = (input.items ?? []).map((item) => {
        const { hex, string } = describeValue(layout, bytesOf(layout, item));
        return { hex, string };
      });
      return { items };
    }
    case 'flagsStrings': {
      const { from = 0, to = 0 } = input;
      const bytes = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      return { strings: bytes.map((byte) => ciliumFlagsString(byte, layout.value.knownFlags)) };
    }
  }
}

const topic = loadTopic<Input>('02-ipcache-value');

describe(topic.topic, () => {
  for (const [index, { name, input, expect: wanted }] of topic.cases.entries()) {
    test(`${index} ${name}`, () => expect(run(input)).toEqual(wanted));
  }
});
