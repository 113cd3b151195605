/**
 * Sees that the pin stands for another map than the one that is written to, before the next write: an agent that restarts
 * puts a new map there, and programs follow it.
 */
import { statSync } from 'node:fs';
import type { BpfMap } from '../bpf/map.ts';
import { openPin } from '../bpf/open-pin.ts';
import { RefusedError } from '../errors.ts';
import type { Kernel } from '../native/kernel.ts';

export interface PinGuardOptions {
  readonly kernel: Kernel;
  readonly pin: string;
  /** The map that is written to now. */
  readonly map: BpfMap;
  /** Whether somebody else writes the map that is there now: the error that ends the writing, or undefined. */
  readonly refusal: (map: BpfMap) => Promise<Error | undefined>;
  /** The writer goes on with this map, and everything is to be written again. The old one is closed afterwards. */
  readonly onReplaced: (map: BpfMap) => void;
}

export class PinGuard {
  readonly #options: PinGuardOptions;
  #map: BpfMap;
  #inode: bigint | undefined;
  #replacements = 0;

  constructor(options: PinGuardOptions) {
    this.#options = options;
    this.#map = options.map;
  }

  /** How often another map was found. */
  get replacements(): number {
    return this.#replacements;
  }

  /**
   * For `beforeWrite` of a writer. A pin costs one stat(2) as long as it is the same file.
   * @returns false while there is no pin: nothing may be written to a map that was taken away
   * @throws {RefusedError} PIN_OF_OTHER_SHAPE the new map is no ipcache of this layout @throws what `refusal` answers
   */
  async check(): Promise<boolean> {
    const inode = statSync(this.#options.pin, { bigint: true, throwIfNoEntry: false })?.ino;
    if (inode === undefined) return false;
    if (inode !== this.#inode) await this.#lookAt();
    this.#inode = inode;
    return true;
  }

  async #lookAt(): Promise<void> {
    const { kernel, pin, refusal, onReplaced } = this.#options;
    const map = openPin(pin, { kernel, write: true });
    if (map.info.id === this.#map.info.id) {
      map[Symbol.dispose]();
      return;
    }
    const error = otherShape(map, this.#map) ?? (await refusal(map));
    if (error !== undefined) {
      map[Symbol.dispose]();
      throw error;
    }
    const old = this.#map;
    this.#map = map;
    this.#replacements++;
    onReplaced(map);
    old[Symbol.dispose]();
  }
}

function otherShape(map: BpfMap, old: BpfMap): RefusedError | undefined {
  const { type, keyBytes, valueBytes } = map.info;
  if (type === old.info.type && keyBytes === old.info.keyBytes && valueBytes === old.info.valueBytes) return undefined;
  return new RefusedError(
    `Cannot go on with ${map.label}: the map there now has ${keyBytes}-byte keys and ${valueBytes}-byte values`,
    {
      code: 'PIN_OF_OTHER_SHAPE',
      hint: 'start again: the layout is then found out anew',
      operands: { mapId: map.info.id },
    },
  );
}
