/** Makes the map of a restore that has none to write to, and gives it its name only when it is complete. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createMap } from '../bpf/create-map.ts';
import type { BpfMap } from '../bpf/map.ts';
import { openPin } from '../bpf/open-pin.ts';
import { pinMap, renamePin, unpin } from '../bpf/pin.ts';
import { walkMap } from '../bpf/walk.ts';
import { identityOf } from '../datapath/stored-identity.ts';
import { FailedError, LayoutError, NotFoundError, RefusedError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { decodeKey, keyText } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import { listEntries } from '../ipcache/list-entries.ts';
import type { Kernel } from '../native/kernel.ts';
import { BatchWriter } from './batch-writer.ts';
import { EntryConverter } from './convert-entry.ts';
import { EntrySum } from './entry-sum.ts';
import type { NewMap } from './new-map-spec.ts';
import { encodePlanned } from './place-entries.ts';
import type { PlannedEntry } from './planned-entry.ts';

/** What is beside a pin while the map that replaces it is checked: the name that Cilium uses too. */
export const PENDING_SUFFIX = '_pending';

export interface NotFitting {
  readonly prefix: string;
  readonly identity: number;
  readonly error: LayoutError;
}

export class NewMapFiller implements Disposable {
  readonly map: BpfMap;
  /** Entries that the layout has no place for. */
  readonly notFitting: NotFitting[] = [];
  readonly #writer: BatchWriter;
  readonly #converter: EntryConverter;
  readonly #from: Layout;
  readonly #made: NewMap;

  /**
   * @param replaces the map takes the place of another one, and is compared before it does
   * @throws {NotPermittedError} without CAP_BPF
   */
  constructor(kernel: Kernel, made: NewMap, from: Layout, replaces: boolean) {
    this.map = createMap(kernel, made.spec);
    this.#made = made;
    this.#from = from;
    this.#writer = new BatchWriter(this.map, { withSum: replaces });
    this.#converter = new EntryConverter(from, made.layout);
  }

  /** Entries that were added. */
  get entries(): number {
    return this.#writer.entries;
  }

  /** Carries an entry of the outgoing map over as it is. */
  carry(keys: Uint8Array, key: number, values: Uint8Array, value: number): void {
    try {
      if (this.#converter.isIdentity) {
        this.#writer.add(keys, key, values, value);
        return;
      }
      const converted = this.#converter.convert(keys, key, values, value);
      this.#writer.add(converted.key, 0, converted.value, 0);
    } catch (error) {
      if (!(error instanceof LayoutError)) throw error;
      const identity = identityOf(this.#from, values, value);
      this.notFitting.push({ prefix: keyText(decodeKey(this.#from, keys, key), keys, key), identity, error });
    }
  }

  /** After at most 4096 entries. */
  flushFull(): Promise<void> {
    return this.#writer.flushFull();
  }

  /** @returns the planned entries that do not fit */
  async place(entries: readonly PlannedEntry[]): Promise<PlannedEntry[]> {
    const failed: PlannedEntry[] = [];
    const { layout } = this.#made;
    for (const [i, entry] of entries.entries()) {
      try {
        const { key, value } = encodePlanned({ layout, candidates: [layout] }, entry);
        this.#writer.add(key, 0, value, 0);
      } catch (error) {
        if (!(error instanceof LayoutError)) throw error;
        failed.push(entry);
      }
      if (i % 4096 === 4095) await this.#writer.flushFull();
    }
    return failed;
  }

  /** Completes the map and pins it where nothing is pinned yet. */
  async pin(): Promise<void> {
    await this.#writer.end();
    pinMap(this.map, this.#made.pin);
  }

  /**
   * Completes the map, pins it beside the old one, reads it back, and renames it over the old one.
   * @param oldId the map that is expected under the pin
   * @throws {RefusedError} MAP_REPLACED another map is pinned there by now @throws {FailedError} RECREATE_DIFFERS
   */
  async replace(oldId: number, signal?: AbortSignal): Promise<void> {
    await this.#writer.end();
    const pending = `${this.#made.pin}${PENDING_SUFFIX}`;
    removeLeftover(pending);
    pinMap(this.map, pending);
    try {
      await this.#compare(pending, signal);
      requirePinned(this.map.kernel, this.#made.pin, oldId);
      renamePin(pending, this.#made.pin);
    } catch (error) {
      removeLeftover(pending);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.map[Symbol.dispose]();
  }

  async #compare(pin: string, signal?: AbortSignal): Promise<void> {
    using map = openPin(pin, { kernel: this.map.kernel });
    const sum = new EntrySum();
    const { valueBytes } = map.info;
    const { complete, reason } = await listEntries(walkMap(map, { signal }), {
      valueBytes,
      onEntry: (keys, key, values, value) => sum.add(keys, key, values, value, valueBytes),
    });
    const { sum: written, entries } = this.#writer;
    if (complete && written !== undefined && sum.equals(written)) return;
    throw new FailedError(
      `Cannot replace ${this.#made.pin}: the new map does not hold what was written to it (${sum.count} of ${entries} entries${reason === undefined ? '' : `, ${reason}`})`,
      { code: 'RECREATE_DIFFERS', hint: 'the old map is in place; run it again', operands: { path: pin } },
    );
  }
}

/** Makes the directory of a pin as Cilium makes it. @throws {ToolError} */
export function makePinDirectory(pin: string): void {
  const directory = dirname(pin);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
  } catch (cause) {
    throw fileError('create', directory, cause);
  }
}

/** Whether the pin names that map. @returns false also when there is no pin any more */
export function isPinned(kernel: Kernel, pin: string, mapId: number): boolean {
  try {
    using map = openPin(pin, { kernel });
    return map.info.id === mapId;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

function requirePinned(kernel: Kernel, pin: string, mapId: number): void {
  if (isPinned(kernel, pin, mapId)) return;
  throw new RefusedError(`Cannot replace ${pin}: another map was pinned there meanwhile`, {
    code: 'MAP_REPLACED',
    hint: 'somebody else replaces this map too: find out who with ipc doctor, then run it again',
    operands: { path: pin, mapId },
  });
}

/** What a run that was killed left behind; we hold the lock of the directory. */
function removeLeftover(pending: string): void {
  try {
    unpin(pending);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}
