/** Which pin `ipc restore` writes, and what is there now. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bpffsRoots } from '../bpf/bpffs.ts';
import { parseMapRef } from '../bpf/map-ref.ts';
import { NotFoundError, UsageError } from '../errors.ts';
import { type IpcacheMap, openIpcache } from '../ipcache/ipcache-map.ts';
import type { LayoutName } from '../ipcache/layout.ts';
import { layoutNamed } from '../ipcache/layout.ts';
import { parseLayoutName } from '../ipcache/parse-layout-name.ts';
import { LinuxKernel } from '../native/linux-kernel.ts';
import { type NewMap, newMapSpec } from '../restore/new-map-spec.ts';
import { mapFlags, type RestoreFlagValues } from './restore-flags.ts';
import type { RestoreSource } from './restore-source.ts';
import type { SharedValues } from './shared-flags.ts';

export type TargetKind = 'same' | 'existing' | 'new' | 'recreate';

export interface RestoreTarget extends Disposable {
  readonly kind: TargetKind;
  /** An absolute path. */
  readonly pin: string;
  /** The map that is pinned there now, open for reading; the source's own for `same`. */
  readonly present?: IpcacheMap;
  /** The map to be made, for `new` and `recreate`. */
  readonly made?: NewMap;
}

export interface TargetOptions {
  readonly flags: Pick<RestoreFlagValues, 'to' | 'recreate' | 'max-entries' | 'map-flags'>;
  readonly shared: Pick<SharedValues, 'map' | 'bpffs' | 'layout'>;
  readonly tcBpfMnt: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws {UsageError} the map has no pin @throws what openIpcache throws, but for a pin that is missing */
export async function openTarget(source: RestoreSource, options: TargetOptions): Promise<RestoreTarget> {
  const { flags, shared } = options;
  const pin = targetPin(source, options);
  const { ipcache } = source;
  if (ipcache !== undefined && flags.to === undefined && !flags.recreate) {
    return { kind: 'same', pin, present: ipcache, [Symbol.dispose]: () => {} };
  }
  const present = ipcache !== undefined && flags.to === undefined ? undefined : await openPresent(pin, options);
  const now = present ?? (flags.recreate ? ipcache : undefined);
  const dispose = (): void => present?.[Symbol.dispose]();
  if (now !== undefined && !flags.recreate) return { kind: 'existing', pin, present: now, [Symbol.dispose]: dispose };
  const replaced = now === undefined ? source.outgoing.map : { ...now.map.info, layout: now.layout };
  const made = newMapSpec({
    pin,
    replaces: replaced,
    layout: wantedLayout(shared.layout, source),
    maxEntries: flags['max-entries'],
    flags: mapFlags(flags),
  });
  return {
    kind: now === undefined ? 'new' : 'recreate',
    pin,
    made,
    ...(now !== undefined && { present: now }),
    [Symbol.dispose]: dispose,
  };
}

/** A layout that does not fit the map that is read is meant for the one that is made. */
function wantedLayout(text: string | undefined, { ipcache, outgoing }: RestoreSource): LayoutName | undefined {
  if (text === undefined) return undefined;
  const name = parseLayoutName(text);
  const readsWith = ipcache !== undefined && outgoing.map.layout.value.bytes === layoutNamed(name).value.bytes;
  return readsWith ? undefined : name;
}

function targetPin(source: RestoreSource, { flags, shared, tcBpfMnt }: TargetOptions): string {
  const named = flags.to ?? (source.ipcache === undefined ? shared.map : source.ipcache.map.path);
  if (named !== undefined) {
    const ref = parseMapRef(named);
    if (ref.kind === 'pin') return resolve(ref.path);
    if (ref.kind === 'file') throw notBpffs(ref.path);
  } else if (source.snapshot !== undefined) {
    const { pin } = source.snapshot.header.map;
    const mountinfo = readMountinfo();
    const [root] = bpffsRoots({ bpffs: shared.bpffs, tcBpfMnt, mountinfo });
    return pin !== undefined && parseMapRef(pin).kind === 'pin' ? pin : `${root}/tc/globals/cilium_ipcache_v2`;
  }
  throw new UsageError('Cannot restore into a map without a pin: what is remembered of it belongs to a pin', {
    code: 'NO_PIN',
    hint: 'name the map by its pin: --map PIN or --to PIN',
  });
}

async function openPresent(pin: string, { shared, signal }: TargetOptions): Promise<IpcacheMap | undefined> {
  try {
    const ref = { kind: 'pin', path: pin } as const;
    const ipcache = await openIpcache({ kernel: new LinuxKernel(), ref, layout: undefined, signal });
    if (shared.layout === undefined) return ipcache;
    const layout = parseLayoutName(shared.layout);
    if (ipcache.map.info.valueBytes !== layoutNamed(layout).value.bytes) return ipcache;
    ipcache[Symbol.dispose]();
    return await openIpcache({ kernel: new LinuxKernel(), ref, layout, signal });
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'MAP_NOT_FOUND') return undefined;
    throw error;
  }
}

function notBpffs(path: string): NotFoundError {
  return new NotFoundError(`Cannot restore into ${path}: it is not on a bpf filesystem`, {
    code: 'NOT_BPFFS',
    hint: 'pins live on bpffs: mount -t bpf bpf /sys/fs/bpf',
    operands: { path },
  });
}

function readMountinfo(): string | undefined {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return undefined;
  }
}
