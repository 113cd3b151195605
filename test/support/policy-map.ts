/** Pinned policy maps of endpoints, as Cilium 1.17 and later make them. */
import { mkdirSync } from 'node:fs';
import { pinMap } from '../../src/lib/bpf/pin.ts';
import type { Kernel } from '../../src/lib/native/kernel.ts';
import { realTrie } from './real-kernel.ts';

/**
 * Pins the policy map of an endpoint that lets the numbers in. Nothing but the pin holds it.
 * @param root a directory on bpffs that stands for its root
 */
export function pinPolicyMap(kernel: Kernel, root: string, endpoint: number, identities: readonly number[]): void {
  const directory = `${root}/tc/globals`;
  mkdirSync(directory, { recursive: true });
  using map = realTrie(kernel, { keyBytes: 12, valueBytes: 8, name: 'ipc_policy' });
  for (const identity of identities) {
    const key = new Uint8Array(12);
    const view = new DataView(key.buffer);
    // Length of the key in bits without the length itself, then the number; direction, protocol and port stay 0.
    view.setUint32(0, 40, true);
    view.setUint32(4, identity, true);
    map.update(key, new Uint8Array(8));
  }
  pinMap(map, `${directory}/cilium_policy_v2_${String(endpoint).padStart(5, '0')}`);
}
