/** The ipcache pin of this node, when nobody named one. */
import { NotFoundError, type ToolError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';
import { ipcacheShapeError } from './ipcache-shape.ts';
import { findMapUsers } from './map-users.ts';
import { openPin } from './open-pin.ts';
import { type PinCandidate, type PinChoice, pickPin } from './pick-pin.ts';

/** Below a bpffs root, as Cilium 1.18 and later and Cilium up to 1.17 pin it (pkg/maps/ipcache). */
export const IPCACHE_PINS: readonly string[] = ['tc/globals/cilium_ipcache_v2', 'tc/globals/cilium_ipcache'];

export interface FindPinOptions {
  readonly kernel: Kernel;
  /** bpffs roots, best first; see bpffsRoots. */
  readonly roots: readonly string[];
  readonly procRoot?: string | undefined;
}

/**
 * Finds the pin below the roots; several paths to one map are one pin, of several maps see pickPin.
 * @throws {NotFoundError} MAP_NOT_FOUND when there is none. @throws {NotPermittedError} when one could not be looked at.
 * @throws {AmbiguousError} AMBIGUOUS_PIN; NOT_AN_IPCACHE when what is pinned there is something else.
 */
export function findIpcachePin(options: FindPinOptions): PinChoice {
  const { kernel, roots, procRoot } = options;
  const { found, wrong, denied } = openAll(options);
  const [first] = found;
  // A pin that could not be looked at may be the live one: the other is then not chosen in its stead.
  if (denied !== undefined) throw denied;
  if (first === undefined) throw wrong ?? noPin(roots);
  if (found.length === 1) return { ...first, reason: 'it is the only ipcache pin', others: [] };
  const users = findMapUsers(
    found.map(({ mapId }) => mapId),
    { kernel, procRoot },
  );
  return pickPin(found, users);
}

interface Found {
  readonly found: readonly PinCandidate[];
  readonly wrong?: ToolError | undefined;
  readonly denied?: unknown;
}

function openAll({ kernel, roots, procRoot }: FindPinOptions): Found {
  const found: PinCandidate[] = [];
  let wrong: ToolError | undefined;
  let denied: unknown;
  for (const path of roots.flatMap((root) => IPCACHE_PINS.map((pin) => `${root.replace(/\/+$/, '')}/${pin}`))) {
    try {
      using map = openPin(path, { kernel, procRoot });
      const shapeError = ipcacheShapeError(map);
      if (shapeError !== undefined) wrong ??= shapeError;
      else if (!found.some(({ mapId }) => mapId === map.info.id)) found.push({ path, mapId: map.info.id });
    } catch (error) {
      if (!(error instanceof NotFoundError)) denied ??= error;
    }
  }
  return { found, wrong, denied };
}

function noPin(roots: readonly string[]): ToolError {
  const names = IPCACHE_PINS.map((pin) => pin.slice(pin.lastIndexOf('/') + 1)).join(' or ');
  const directories = roots.map((root) => `${root}/tc/globals`);
  return new NotFoundError(`Cannot find an ipcache map: no ${names} in ${directories.join(', ')}`, {
    code: 'MAP_NOT_FOUND',
    hint: 'name one with --map PIN, id:N or datapath; ipc doctor lists the maps of this node',
    operands: { roots },
  });
}
