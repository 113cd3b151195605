/**
 * Feeds cache events to the listener and the writer of a real map, alone in a process. Prints one JSON object.
 * usage: writer-load N
 */
import { createMap } from '../../src/lib/bpf/create-map.ts';
import { BPF_F_NO_PREALLOC, BPF_MAP_TYPE_LPM_TRIE } from '../../src/lib/bpf/uapi.ts';
import type { CacheEntry } from '../../src/lib/cache/listener.ts';
import { BpfListener } from '../../src/lib/datapath/bpf-listener.ts';
import { MapWriter } from '../../src/lib/datapath/map-writer.ts';
import { layoutNamed } from '../../src/lib/ipcache/layout.ts';
import { LinuxKernel } from '../../src/lib/native/linux-kernel.ts';

/** What one kind of load cost. */
export interface WriterLoad {
  readonly insertsPerSecond: number;
  readonly updatesPerSecond: number;
  readonly deletesPerSecond: number;
  /** MiB, resident; the kernel's memory is not in it. */
  readonly memory: number;
  readonly cpu: number;
  readonly wall: number;
}

/** Events of one turn of a source. */
const TURN = 1024;
const layout = layoutNamed('v2');

async function main(count: number): Promise<WriterLoad> {
  using map = createMap(new LinuxKernel(), {
    type: BPF_MAP_TYPE_LPM_TRIE,
    keyBytes: 24,
    valueBytes: layout.value.bytes,
    maxEntries: count,
    flags: BPF_F_NO_PREALLOC,
    name: 'ipc_bench',
  });
  const writer = new MapWriter({
    map,
    layout,
    timers: {
      setTimeout: (run, ms) => setTimeout(run, ms),
      clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    },
    random: Math.random,
  });
  const rules = { underlay: 'ipv4', node: { ipv4: Uint8Array.of(192, 0, 2, 1) } } as const;
  const listener = new BpfListener({ layout, rules, changes: writer });
  const began = performance.now();
  const cpu = process.cpuUsage();
  const feed = async (tell: (prefix: string, i: number) => void): Promise<number> => {
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      tell(`10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}/32`, i);
      if (i % TURN !== 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      await writer.drained();
    }
    await writer.flush();
    return (count * 1000) / (performance.now() - start);
  };
  const entry = (i: number, more: number): CacheEntry => ({
    identity: 1000 + (i % 5000) + more,
    source: 'kvstore',
    hostIP: `172.21.0.${i % 250}`,
    encryptKey: 0,
    endpointFlags: 0,
    pod: undefined,
  });
  const upsert = (more: number) =>
    feed((prefix, i) => listener.onIpcacheEvent({ kind: 'upsert', prefix, entry: entry(i, more), old: undefined }));
  const insertsPerSecond = await upsert(0);
  const updatesPerSecond = await upsert(1);
  if (writer.counts.written !== 2 * count) throw new Error(`${writer.counts.written} entries were written`);
  const deletesPerSecond = await feed((prefix, i) =>
    listener.onIpcacheEvent({ kind: 'delete', prefix, entry: entry(i, 1) }),
  );
  if (writer.counts.deleted !== count) throw new Error(`${writer.counts.deleted} entries were deleted`);
  const { user, system } = process.cpuUsage(cpu);
  return {
    insertsPerSecond,
    updatesPerSecond,
    deletesPerSecond,
    memory: process.memoryUsage.rss() / 2 ** 20,
    cpu: (user + system) / 1000,
    wall: performance.now() - began,
  };
}

main(Number(process.argv[2])).then((load) => process.stdout.write(`${JSON.stringify(load)}\n`));
