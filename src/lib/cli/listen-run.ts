/** `ipc listen` between its flags and the agent loop. */
import { resolve } from 'node:path';
import { parseMapRef } from '../bpf/map-ref.ts';
import { openIpcacheMap } from '../bpf/open-ipcache-map.ts';
import { NotFoundError, UsageError } from '../errors.ts';
import { parseLayoutName } from '../ipcache/parse-layout-name.ts';
import type { Clock } from '../listen/clock.ts';
import type { LoopEvent } from '../listen/loop-event.ts';
import type { LoopSetup } from '../listen/loop-setup.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import { checkOwner } from '../owner/check-owner.ts';
import { readMachineFacts } from '../snapshot/machine-facts.ts';
import { openSource } from '../sources/open-source.ts';
import { formatSourceRef } from '../sources/source-ref.ts';
import { type ListenFlagValues, nodeFamilies, sourceRefs, tunnelRules } from './listen-flags.ts';
import type { Log } from './log.ts';
import { mapFlags } from './restore-flags.ts';
import type { Runtime } from './runtime.ts';
import type { SharedValues } from './shared-flags.ts';
import { sourceSockets } from './source-sockets.ts';
import { useOwner } from './use-owner.ts';

export interface ListenRun {
  readonly flags: ListenFlagValues;
  readonly shared: SharedValues;
  readonly runtime: Runtime;
  readonly logger: Log;
  readonly signal: AbortSignal;
  readonly tcBpfMnt: string | undefined;
  readonly agentSocket: string | undefined;
  readonly tell: (event: LoopEvent) => void;
  readonly onLatency: (seconds: number) => void;
  readonly onOutcome: LoopSetup['onOutcome'];
}

/** @throws {UsageError} flags that do not make sense together @throws what finding the pin throws */
export function loopSetup(run: ListenRun): LoopSetup {
  const { flags, shared, runtime, signal } = run;
  const node = nodeFamilies(flags);
  const rules = tunnelRules(flags);
  const sources = openSources(run);
  const kernel = new LinuxKernel();
  return {
    kernel,
    pin: pinOf(run, kernel),
    stateDirectory: shared['state-dir'],
    layout: shared.layout === undefined ? undefined : parseLayoutName(shared.layout),
    maxEntries: flags['max-entries'],
    mapFlags: mapFlags(flags),
    recreate: flags.recreate,
    restore: !flags['no-restore'],
    sources,
    node,
    rules,
    identities: {
      enableIPv4: node.ipv4,
      enableIPv6: node.ipv6,
      policyCidrMatchMode: [],
      perNodeLabels: false,
      maxConnectedClusters: 255,
    },
    graceMs: flags['grace-period'],
    stopTimeoutMs: flags['stop-timeout'],
    requireSyncMs: flags['require-sync'],
    gcIntervalMs: flags['gc-interval'],
    allowGap: flags['allow-gap'],
    reassert: flags.reassert,
    clock: processClock(runtime),
    random: Math.random,
    tell: run.tell,
    signal,
    clusterName: flags['cluster-name'],
    bootId: readMachineFacts().bootId ?? 'unknown',
    pid: process.pid,
    refusal: (operation, map) => refusalOf(run, operation, map),
    onLatency: run.onLatency,
    onOutcome: run.onOutcome,
  };
}

export function processClock(runtime: Pick<Runtime, 'now'>): Clock {
  return { now: () => runtime.now(), monotonic: () => performance.now() };
}

async function refusalOf(
  { flags, shared, agentSocket, logger }: ListenRun,
  ...[operation, map]: Parameters<LoopSetup['refusal']>
): Promise<Error | undefined> {
  const soleWriter = flags['sole-writer'];
  const ownership = await useOwner({ map, shared, agentSocket, soleWriter, logger });
  return checkOwner(operation, map.label, ownership, { programsWillReload: flags['programs-will-reload'] });
}

function openSources({ flags, runtime, tell, agentSocket }: ListenRun): LoopSetup['sources'] {
  return sourceRefs(flags).map((ref) => ({
    reference: formatSourceRef(ref),
    source: openSource(ref, {
      strict: flags.strict,
      onBadLine: (error) => tell({ kind: 'bad-line', source: ref.name, error }),
      stdin: () => runtime.stdin as AsyncIterable<Uint8Array>,
      uid: process.getuid?.() ?? 0,
      sockets: sourceSockets(agentSocket),
      now: () => runtime.now(),
      onRefused: (source, reason) => tell({ kind: 'client-refused', source, reason }),
    }),
  }));
}

/** A path is taken as it is, because the map may have to be made; without one the node's pin is looked for. */
function pinOf({ shared, tcBpfMnt, logger }: ListenRun, kernel: LinuxKernel): string {
  if (shared.map === undefined) {
    const { map } = openIpcacheMap(undefined, { kernel, bpffs: shared.bpffs, tcBpfMnt });
    const { path } = map;
    map[Symbol.dispose]();
    if (path === undefined) throw new Error('a pin was found that has no path');
    logger.info(`using ${path}`);
    return path;
  }
  const ref = parseMapRef(shared.map);
  if (ref.kind === 'pin') return resolve(ref.path);
  if (ref.kind === 'file') {
    throw new NotFoundError(`Cannot feed ${ref.path}: it is not on a bpf filesystem`, {
      code: 'NOT_BPFFS',
      hint: 'pins live on bpffs: mount -t bpf bpf /sys/fs/bpf',
      operands: { path: ref.path },
    });
  }
  throw new UsageError(`Cannot feed ${shared.map}: a map is fed by its pin, which others find it by`, {
    code: 'PIN_NEEDED',
    hint: 'name a path on bpffs with --map; it is made when nothing is there',
  });
}
