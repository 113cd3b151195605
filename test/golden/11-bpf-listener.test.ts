import { describe, expect, test } from 'vitest';
import type { CacheEntry, IpcacheEvent } from '../../src/lib/cache/listener.ts';
import { BpfListener } from '../../src/lib/datapath/bpf-listener.ts';
import {
  IPCACHE_DELETED,
  IPCACHE_UPSERTED,
  monitorLine,
  notificationText,
} from '../../src/lib/datapath/monitor-notification.ts';
import { nodeIPs } from '../../src/lib/datapath/node-addresses.ts';
import { hexOf } from '../../src/lib/ipcache/key.ts';
import { layoutNamed } from '../../src/lib/ipcache/layout.ts';
import { formatAddress } from '../../src/lib/net/address.ts';
import { loadTopic } from './load.ts';

interface Input {
  readonly underlay: string;
  readonly nodeAddresses: readonly { readonly type: string; readonly ip: string }[];
  readonly modification: string;
  readonly prefix: string;
  readonly oldHostIP: string | null;
  readonly newHostIP: string | null;
  readonly oldIdentity: { readonly id: number } | null;
  readonly newIdentity: { readonly id: number };
  readonly encryptKey: number;
  readonly k8s: { readonly namespace: string; readonly podName: string } | null;
  readonly endpointFlags: number;
  readonly noMonitor?: boolean;
}

interface Expect {
  readonly map: readonly { readonly op: string; readonly keyHex: string; readonly valueHex?: string }[];
  readonly monitor: readonly { readonly agentType: number; readonly agentTypeName: string; readonly text: string }[];
  readonly nodeIP: { readonly v4: string | null; readonly v6: string | null };
}

/** The event that the arguments of Cilium's listener are; a modification that it does not know is none. */
function eventOf(input: Input): IpcacheEvent | undefined {
  const entry: CacheEntry = {
    identity: input.newIdentity.id,
    source: 'kvstore',
    hostIP: input.newHostIP ?? undefined,
    encryptKey: input.encryptKey,
    endpointFlags: input.endpointFlags,
    pod: input.k8s === null ? undefined : { namespace: input.k8s.namespace, name: input.k8s.podName },
  };
  const { prefix, oldHostIP } = input;
  if (input.modification === 'Upsert') return { kind: 'upsert', prefix, entry, old: undefined };
  if (input.modification !== 'Delete') return undefined;
  return { kind: 'delete', prefix, entry: { ...entry, hostIP: oldHostIP ?? undefined } };
}

function textOf(input: Input): string {
  return notificationText({
    cidr: input.prefix.replace(/@.*/, ''),
    id: input.newIdentity.id,
    oldId: input.oldIdentity?.id,
    hostIP: input.newHostIP ?? undefined,
    oldHostIP: input.oldHostIP ?? undefined,
    encryptKey: input.encryptKey,
    namespace: input.k8s?.namespace,
    podName: input.k8s?.podName,
  });
}

describe('11-bpf-listener', () => {
  for (const { name, input, expect: expected } of loadTopic<Input, Expect>('11-bpf-listener').cases) {
    test(name, () => {
      const node = nodeIPs(input.nodeAddresses);
      const text = (address: Uint8Array | undefined) => (address === undefined ? null : formatAddress(address));
      expect({ v4: text(node.ipv4), v6: text(node.ipv6) }).toEqual({ v4: expected.nodeIP.v4, v6: expected.nodeIP.v6 });

      const underlay = input.underlay === 'ipv4' || input.underlay === 'ipv6' ? input.underlay : undefined;
      const operations: object[] = [];
      const listener = new BpfListener({
        layout: layoutNamed('v2'),
        rules: { underlay, node },
        changes: {
          upsert: (key, value) => operations.push({ op: 'update', keyHex: hexOf(key), valueHex: hexOf(value) }),
          remove: (key) => operations.push({ op: 'delete', keyHex: hexOf(key) }),
        },
      });
      const event = eventOf(input);
      if (event !== undefined) listener.onIpcacheEvent(event);
      expect(operations).toEqual(
        expected.map.map(({ op, keyHex, valueHex }) => (valueHex ? { op, keyHex, valueHex } : { op, keyHex })),
      );

      for (const { agentType, agentTypeName, text: wanted } of expected.monitor) {
        expect(textOf(input)).toBe(wanted);
        if (event === undefined) throw new Error('a notification of nothing');
        expect(agentType).toBe(event.kind === 'upsert' ? IPCACHE_UPSERTED : IPCACHE_DELETED);
        expect(monitorLine(event, true)).toContain(`{"type":"agent","subtype":"${agentTypeName}","message":{`);
        if (input.oldIdentity === null && (event.kind === 'delete' || !input.oldHostIP)) {
          expect(monitorLine(event, true)).toContain(wanted);
        }
      }
    });
  }
});
