/** The probes: each makes a private map, tries the thing itself, and takes everything away again. */
import { ToolError } from '../errors.ts';
import { BpfAttr } from '../native/attr.ts';
import type { Kernel } from '../native/kernel.ts';
import { bpfCall } from './call.ts';
import { createMap, type MapSpec } from './create-map.ts';
import { ENOENT } from './errno.ts';
import type { BpfMap } from './map.ts';
import { exchangePins, pinMap, unpin } from './pin.ts';
import { BPF_F_NO_PREALLOC, BPF_F_RDONLY_PROG, BPF_MAP_LOOKUP_BATCH, BPF_MAP_TYPE_LPM_TRIE } from './uapi.ts';

export type Outcome = 'available' | 'absent' | 'unknown';

export interface Finding {
  readonly outcome: Outcome;
  /** What was tried and answered, or why nothing could be. */
  readonly reason: string;
}

export interface FeaturesOptions {
  readonly kernel: Kernel;
  /** A directory on bpffs where pins may be made for a moment; without it, probes that need one say `unknown`. */
  readonly pinDirectory?: string | undefined;
}

export type FeatureName = 'mapCreate' | 'lpmBatchLookup' | 'lpmNextKey' | 'rdonlyProg' | 'pinExchange';

interface FeatureRow {
  readonly title: string;
  readonly minKernel: string;
  readonly probe: (options: FeaturesOptions) => Finding;
}

/** Keys of a prefixlen and four bytes: the smallest trie that shows how the kernel walks. */
const TRIE: MapSpec = {
  type: BPF_MAP_TYPE_LPM_TRIE,
  keyBytes: 8,
  valueBytes: 4,
  maxEntries: 4,
  flags: BPF_F_NO_PREALLOC,
  name: 'ipc_probe',
};

export const FEATURES: Readonly<Record<FeatureName, FeatureRow>> = {
  mapCreate: { title: 'LPM tries that this user may make', minKernel: '4.11', probe: probeCreate },
  lpmBatchLookup: { title: 'batch lookups on LPM tries', minKernel: '5.13', probe: probeBatchLookup },
  lpmNextKey: { title: 'exact next-key on LPM tries', minKernel: '6.13', probe: probeNextKey },
  rdonlyProg: { title: 'maps that programs only read (BPF_F_RDONLY_PROG)', minKernel: '5.2', probe: probeRdonlyProg },
  pinExchange: { title: 'exchange of two pins', minKernel: '5.16', probe: probeExchange },
};

export const FEATURE_NAMES: readonly FeatureName[] = [
  'mapCreate',
  'lpmBatchLookup',
  'lpmNextKey',
  'rdonlyProg',
  'pinExchange',
];

function probeCreate(options: FeaturesOptions): Finding {
  return withTrie(options, () => ({ outcome: 'available', reason: 'a private map was made' }));
}

function probeBatchLookup(options: FeaturesOptions): Finding {
  return withTrie(options, (trie) => {
    const attr = new BpfAttr()
      .ptr(8, new Uint8Array(TRIE.keyBytes))
      .ptr(16, new Uint8Array(TRIE.keyBytes))
      .ptr(24, new Uint8Array(TRIE.valueBytes))
      .u32(32, 1)
      .u32(36, trie.fd);
    const ret = bpfCall(trie.kernel, BPF_MAP_LOOKUP_BATCH, attr);
    // The trie is empty: a kernel that can do it finds the end.
    if (ret < 0 && ret !== -ENOENT) throw trie.error(BPF_MAP_LOOKUP_BATCH, -ret, 'read');
    return { outcome: 'available', reason: 'a batch lookup on a private trie answered' };
  });
}

/**
 * Before 6.13 the walk takes any node of the same length on its way for the key it was asked about. In a trie with
 * 0.0.0.0/8, 128.0.0.0/8 and 0.0.0.0/0, asked for what follows the absent 1.0.0.0/8, it then answers what follows
 * 0.0.0.0/8 instead of starting over. Stable kernels since December 2024 have the fix too.
 */
function probeNextKey(options: FeaturesOptions): Finding {
  return withTrie(options, (trie) => {
    const value = new Uint8Array(4);
    for (const key of [trieKey(8, 0), trieKey(8, 128), trieKey(0, 0)]) trie.update(key, value);
    const first = new Uint8Array(8);
    const next = new Uint8Array(8);
    if (!trie.nextKey(undefined, first) || !trie.nextKey(trieKey(8, 1), next)) {
      return { outcome: 'unknown', reason: 'a private trie with three entries listed none' };
    }
    return first.every((byte, index) => byte === next[index])
      ? { outcome: 'available', reason: 'next-key of an absent key starts over' }
      : { outcome: 'absent', reason: 'next-key of an absent key answers the successor of a neighbour' };
  });
}

function probeRdonlyProg(options: FeaturesOptions): Finding {
  return withTrie(options, () => {
    using _ = createMap(options.kernel, { ...TRIE, flags: TRIE.flags | BPF_F_RDONLY_PROG });
    return { outcome: 'available', reason: 'a private map with this flag was made' };
  });
}

function probeExchange(options: FeaturesOptions): Finding {
  const { pinDirectory } = options;
  if (pinDirectory === undefined) return { outcome: 'unknown', reason: 'no directory on bpffs to try it in' };
  return withTrie(options, (one) => {
    using other = createMap(options.kernel, TRIE);
    const pins = [one, other].map((map) => ({ map, path: `${pinDirectory}/ipc_probe_${map.info.id}` }));
    const made: string[] = [];
    try {
      for (const { map, path } of pins) {
        pinMap(map, path);
        made.push(path);
      }
      const [a = '', b = ''] = made;
      exchangePins(a, b);
      return { outcome: 'available', reason: 'two private pins were exchanged' };
    } finally {
      made.forEach(unpin);
    }
  });
}

function withTrie(options: FeaturesOptions, probe: (trie: BpfMap) => Finding): Finding {
  let making = true;
  try {
    using trie = createMap(options.kernel, TRIE);
    making = false;
    return probe(trie);
  } catch (error) {
    return refusal(error, making ? 'making a private map' : 'trying it on a private map');
  }
}

/** Only "there is no such thing" is conclusive; a missing permission or a full machine says nothing about the kernel. */
function refusal(error: unknown, what: string): Finding {
  if (!(error instanceof ToolError)) throw error;
  const errno = error.operands.errno ?? error.code;
  const absent = error.code === 'KERNEL_FEATURE';
  return { outcome: absent ? 'absent' : 'unknown', reason: `${what}: ${errno}` };
}

function trieKey(bits: number, firstByte: number): Uint8Array {
  return Uint8Array.of(bits, 0, 0, 0, firstByte, 0, 0, 0);
}
