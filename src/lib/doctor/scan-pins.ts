/** All pinned ipcache maps, and pins that something left behind, wherever they are below a bpf filesystem. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasIpcacheShape } from '../bpf/ipcache-shape.ts';
import { openPin } from '../bpf/open-pin.ts';
import { NotPermittedError, ToolError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';

export interface PinScan {
  /** Map id → its pins. */
  readonly pins: ReadonlyMap<number, readonly string[]>;
  /** Pins of a replacement that was never finished. */
  readonly leftovers: readonly string[];
  /** Directories and pins that may not be looked at. */
  readonly hidden: readonly string[];
}

/** Deeper, or more, than any datapath pins. */
const MAX_DEPTH = 8;
const MAX_PINS = 20_000;

/** What a replacement in progress is pinned as: ours, and pkg/bpf of Cilium (`:pending`). */
const PENDING = /[_:]pending$/;

/** @param roots mounted bpf filesystems */
export function scanPins(roots: readonly string[], kernel: Kernel): PinScan {
  const pins = new Map<number, string[]>();
  const leftovers: string[] = [];
  const hidden: string[] = [];
  let budget = MAX_PINS;
  const visit = (directory: string, depth: number): void => {
    for (const entry of list(directory, hidden)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) visit(path, depth + 1);
        continue;
      }
      if (--budget < 0) return;
      const mapId = ipcacheIdOf(path, kernel, hidden);
      if (mapId !== undefined) pins.set(mapId, [...(pins.get(mapId) ?? []), path]);
      const named = entry.name.startsWith('cilium_ipcache');
      if (PENDING.test(entry.name) && (named || mapId !== undefined)) leftovers.push(path);
    }
  };
  for (const root of roots) visit(root, 0);
  return { pins, leftovers, hidden };
}

function list(directory: string, hidden: string[]): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    hidden.push(directory);
    return [];
  }
}

function ipcacheIdOf(path: string, kernel: Kernel, hidden: string[]): number | undefined {
  try {
    using map = openPin(path, { kernel });
    return hasIpcacheShape(map.info) ? map.info.id : undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error instanceof NotPermittedError && path.includes('ipcache')) hidden.push(path);
    return undefined;
  }
}
