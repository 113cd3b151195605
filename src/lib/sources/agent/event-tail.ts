/**
 * What an agent does to the map from now on: its stream of map events (`GET /map/NAME/events?follow=true`). It begins with
 * events of the past, which a listing made after that has in it already. The agent closes the stream of whoever is slow,
 * and sums up batches as a number of entries: then only a new listing tells what there is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError } from '../../errors.ts';
import type { AgentClient } from './agent-client.ts';
import { agentMapNames } from './map-name.ts';
import { type AgentMapValue, parseMapKey, parseMapValue } from './map-value.ts';
import { visitObjects } from './visit-objects.ts';

export type AgentChange =
  | { readonly kind: 'upsert'; readonly key: string; readonly value: AgentMapValue }
  | { readonly kind: 'delete'; readonly key: string }
  /** Everything was deleted. */
  | { readonly kind: 'clear' };

/** An agent with nothing to tell does not even begin its answer; by then it has heard the question. */
const QUIET_MS = 500;
/** Events are stamped before they are in the buffer: those of so shortly before a listing may not be in it. */
const MARGIN_MS = 1000;
const MOST_KEPT = 1 << 20;

export interface EventTailSetup {
  /** Of the map that is meant. */
  readonly pin: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class EventTail implements Disposable {
  readonly #client: AgentClient;
  readonly #setup: EventTailSetup;
  readonly #stop = new AbortController();
  #changes: AgentChange[] = [];
  #since = 0;
  #ended: string | undefined;
  #wake: () => void = () => {};

  constructor(client: AgentClient, setup: EventTailSetup) {
    this.#client = client;
    this.#setup = setup;
  }

  /** Why nothing more comes; undefined while it does. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /**
   * Begins to listen; to be called before the listing that the changes belong to.
   * @returns false when the agent keeps no events of the map
   * @throws as visitObjects
   */
  async start(signal: AbortSignal | undefined): Promise<boolean> {
    for (const name of agentMapNames(this.#setup.pin)) {
      // The agent's clock is ours: a unix socket leads to the same machine.
      this.#since = this.#setup.now() - MARGIN_MS;
      if (await this.#open(name, signal)) return true;
    }
    return false;
  }

  /** What came since the last call. */
  take(): AgentChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Settles when there is something to take, the stream has ended, or the signal fires. */
  async more(signal: AbortSignal): Promise<void> {
    if (this.#changes.length > 0 || this.#ended !== undefined || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#end('it is not listened to any more');
  }

  async #open(name: string, signal: AbortSignal | undefined): Promise<boolean> {
    let answered: () => void = () => {};
    const answer = new Promise<boolean>((resolve) => {
      answered = () => resolve(true);
    });
    const stop = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    const stream = visitObjects(
      this.#client,
      { path: `/map/${name}/events?follow=true`, depth: 1, visit: (object) => this.#note(object) },
      { signal: stop, maxBytes: Number.POSITIVE_INFINITY, onAnswer: answered },
    ).then(
      (how) => {
        if (how === 'absent') return false;
        this.#end('the agent has ended its stream of events');
        return true;
      },
      (error: unknown) => {
        if (!(error instanceof ToolError) && !stop.aborted) throw error;
        this.#end(error instanceof ToolError ? error.message : 'it is not listened to any more');
        return true;
      },
    );
    return Promise.race([stream, answer, sleep(QUIET_MS, true, { ref: false })]);
  }

  #note(object: Readonly<Record<string, unknown>>): void {
    const time = typeof object.timestamp === 'string' ? Date.parse(object.timestamp) : Number.NaN;
    if (time < this.#since || this.#ended !== undefined) return;
    const change = changeOf(object);
    if (change === undefined || this.#changes.length >= MOST_KEPT) {
      this.#end('an event of the agent does not say which entry it is about');
      return;
    }
    this.#changes.push(change);
    this.#wake();
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    this.#stop.abort();
    this.#wake();
  }
}

/** @returns undefined for what concerns entries that it does not name */
function changeOf({ action, ...event }: Readonly<Record<string, unknown>>): AgentChange | undefined {
  if (action === 'delete-all') return { kind: 'clear' };
  const key = parseMapKey(event.key);
  if (key === undefined) return undefined;
  if (action === 'delete') return { kind: 'delete', key };
  const value = parseMapValue(event.value);
  return value && { kind: 'upsert', key, value };
}
