/** Makes a small ipcache map and pins it: what a node with a few pods has. Argument: the path of the pin. */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createMap } from '../src/lib/bpf/create-map.ts';
import { pinMap } from '../src/lib/bpf/pin.ts';
import { BPF_F_NO_PREALLOC, BPF_F_RDONLY_PROG, BPF_MAP_TYPE_LPM_TRIE } from '../src/lib/bpf/uapi.ts';
import { numericIdentity } from '../src/lib/identity/numeric-identity.ts';
import { encodeEntry } from '../src/lib/ipcache/encode-entry.ts';
import { KEY_BYTES, layoutNamed } from '../src/lib/ipcache/layout.ts';
import type { RemoteEndpoint } from '../src/lib/ipcache/remote-endpoint-info.ts';
import { LinuxKernel } from '../src/lib/native/linux-kernel.ts';
import { parseAddress } from '../src/lib/net/address.ts';
import { parsePrefix } from '../src/lib/net/prefix.ts';

const NODE_B = '192.0.2.12';

/** Prefix, identity, tunnel endpoint. */
const ENTRIES: readonly (readonly [prefix: string, identity: number, tunnel?: string])[] = [
  ['0.0.0.0/0', 9],
  ['::/0', 10],
  ['192.0.2.11/32', 1],
  [`${NODE_B}/32`, 33554433],
  ['10.1.0.7/32', 12001],
  ['10.1.0.8/32', 12002],
  ['10.1.0.200/32', 8],
  ['10.1.1.0/24', 2, NODE_B],
  ['10.1.1.21/32', 12001, NODE_B],
  ['2001:db8:1::7/128', 12001],
  ['198.51.100.0/24', 16777217],
  ['203.0.113.53/32', 16777218],
  ['10.9.0.5/32@2', 131073, '198.51.100.20'],
];

const [pin] = process.argv.slice(2);
if (pin === undefined) throw new Error('usage: demo-map.ts PIN');
if (!existsSync(pin)) {
  const layout = layoutNamed('v2');
  using map = createMap(new LinuxKernel(), {
    type: BPF_MAP_TYPE_LPM_TRIE,
    keyBytes: KEY_BYTES,
    valueBytes: layout.value.bytes,
    maxEntries: 1000,
    flags: BPF_F_NO_PREALLOC | BPF_F_RDONLY_PROG,
    name: 'ipc_demo',
  });
  for (const [prefix, identity, tunnel] of ENTRIES) {
    const { key, value } = encodeEntry(
      { layout, candidates: [layout] },
      parsePrefix(prefix),
      endpointOf(identity, tunnel),
    );
    map.update(key, value);
  }
  mkdirSync(path.dirname(pin), { recursive: true });
  pinMap(map, pin);
}

function endpointOf(number: number, tunnel: string | undefined): RemoteEndpoint {
  const identity = numericIdentity(number);
  const address = tunnel === undefined ? undefined : parseAddress(tunnel);
  return address === undefined ? { identity } : { identity, tunnel: address };
}
