/**
 * The state directory of one pin, opened by its one writer. What cannot be read is never written over: a damaged or
 * newer checkpoint, and that of another pin, already stop the opening.
 */
import { dirname, resolve } from 'node:path';
import { RefusedError } from '../errors.ts';
import { openAtomicFile, removeTemporaries } from '../fs/atomic-file.ts';
import type { StateCheckpoint, StateDraft } from './checkpoint.ts';
import { checkpointText } from './checkpoint-text.ts';
import { lockState, type StateLock } from './lock.ts';
import { statePaths } from './paths.ts';
import { readCheckpoint } from './read-checkpoint.ts';
import { isSamePin } from './same-pin.ts';

export interface OpenStateOptions {
  readonly directory: string;
  /** The pin that is going to be written. */
  readonly pin: string;
  /** A migration: the state of this pin may become that of `pin`. */
  readonly formerPin?: string;
}

export class State implements Disposable {
  readonly lock: StateLock;
  readonly pin: string;
  readonly #path: string;
  readonly #previous: string;
  #checkpoint: StateCheckpoint | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(lock: StateLock, pin: string, checkpoint: StateCheckpoint | undefined) {
    this.lock = lock;
    this.pin = pin;
    this.#checkpoint = checkpoint;
    const paths = statePaths(lock.directory);
    this.#path = paths.checkpoint;
    this.#previous = paths.previous;
  }

  /** What was read or last written; undefined in a new state directory, and after `stream`. */
  get checkpoint(): StateCheckpoint | undefined {
    return this.#checkpoint;
  }

  /**
   * Replaces the checkpoint, keeping the present one as the previous generation. Does not block the event loop: it is
   * made and written in pieces, and synced on the thread pool. Writes asked for at the same time happen in order.
   * @param checkpoint its pin is that of this state; its records must not be changed afterwards
   * @throws {ToolError} when the file cannot be written; then the old one is in place
   */
  write(checkpoint: Omit<StateCheckpoint, 'pin'>): Promise<void> {
    const state = { ...checkpoint, pin: this.pin };
    return this.#inOrder(async () => {
      await this.#replace(state);
      this.#checkpoint = state;
    });
  }

  /** As `write`, of what is too much to keep: the lists of the draft are gone through once, and forgotten. */
  stream(draft: StateDraft): Promise<void> {
    this.#checkpoint = undefined;
    return this.#inOrder(() => this.#replace({ ...draft, pin: this.pin }));
  }

  #inOrder(replace: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(replace);
    this.#writing = done.catch(() => undefined);
    return done;
  }

  async #replace(state: StateDraft & { readonly pin: string }): Promise<void> {
    using file = openAtomicFile(this.#path, { previous: this.#previous });
    for (const piece of checkpointText(state)) await file.write(piece);
    await file.commit();
  }

  [Symbol.dispose](): void {
    this.lock[Symbol.dispose]();
  }
}

/**
 * Locks and reads the state directory; makes it when it is missing.
 * @throws {LockedError} another ipc writes
 * @throws {MalformedError} the checkpoint is damaged or newer; it stays as it is
 * @throws {RefusedError} code STATE_OF_OTHER_PIN
 * @throws {NotPermittedError}
 */
export function openState({ directory, pin, formerPin }: OpenStateOptions): State {
  const absolute = resolve(pin);
  const lock = lockState({ directory, pinDirectory: dirname(absolute) });
  try {
    const checkpoint = readCheckpoint(directory);
    if (checkpoint !== undefined)
      requirePin(directory, checkpoint, [absolute, ...(formerPin === undefined ? [] : [formerPin])]);
    removeTemporaries(statePaths(directory).checkpoint);
    return new State(lock, absolute, checkpoint);
  } catch (cause) {
    lock[Symbol.dispose]();
    throw cause;
  }
}

function requirePin(directory: string, checkpoint: StateCheckpoint, pins: readonly string[]): void {
  if (pins.some((pin) => isSamePin(pin, checkpoint.pin))) return;
  throw new RefusedError(`Cannot use state directory ${directory} for ${pins[0]}: it belongs to ${checkpoint.pin}`, {
    code: 'STATE_OF_OTHER_PIN',
    hint: `give this map a directory of its own with --state-dir, or move ${statePaths(directory).checkpoint} away if that pin is given up`,
    operands: { path: directory, pin: checkpoint.pin },
  });
}
