import { describe, expect, test } from 'vitest';
import { ciliumKeyString, keyPrefix, newKey } from '../../src/lib/ipcache/cilium-key.ts';
import { keyClusterId, keyPrefixlen } from '../../src/lib/ipcache/key.ts';
import { layoutNamed } from '../../src/lib/ipcache/layout.ts';
import {
  formatNetipPrefix,
  netipPrefixFrom,
  parseNetipAddr,
  parseNetipPrefix,
  ZERO_ADDR,
} from '../../src/lib/net/netip.ts';
import { loadTopic } from './load.ts';

interface Input {
  readonly op: 'newKey' | 'newKeyFromAddr' | 'decode';
  readonly prefix?: string;
  readonly addr?: string;
  readonly bits?: number;
  readonly clusterID?: number;
  readonly hex?: string;
}

function keyOf({ op, prefix = '', addr = '', bits = 0, clusterID = 0, hex = '' }: Input): Uint8Array {
  switch (op) {
    case 'newKey':
      return newKey(parseNetipPrefix(prefix), clusterID);
    case 'newKeyFromAddr':
      return newKey(netipPrefixFrom(addr === '' ? ZERO_ADDR : parseNetipAddr(addr), bits), clusterID);
    case 'decode':
      return Buffer.from(hex, 'hex');
  }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const topic = loadTopic<Input>('01-ipcache-key');

describe(topic.topic, () => {
  for (const [index, { name, input, expect: wanted }] of topic.cases.entries()) {
    test(`${index} ${name}`, () => {
      // Not at offset 0, so that an offset which is forgotten shows.
      const keys = Buffer.concat([Buffer.alloc(24, 0xee), keyOf(input)]);
      const prefix = keyPrefix(keys, 24);
      expect({
        hex: hexOf(keys.subarray(24)),
        prefixlen: keyPrefixlen(keys, 24),
        clusterID: keyClusterId(layoutNamed('v2'), keys, 24),
        pad1: keys[30],
        family: keys[31],
        ip: hexOf(keys.subarray(32)),
        string: ciliumKeyString(keys, 24),
        prefixString: formatNetipPrefix(prefix),
        prefixValid: prefix.bits >= 0,
        prefixBits: prefix.bits,
      }).toEqual(wanted);
    });
  }
});
