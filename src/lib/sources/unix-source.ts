/**
 * `unix:PATH`: events from whoever connects, several clients at once, each with lines of its own. What a client said
 * stays when it leaves. `synced` of any client means that everything has been said.
 */
import type * as Net from 'node:net';
import { MalformedError, UnreachableError } from '../errors.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import { Coverage } from './coverage.ts';
import type { LineEvent } from './event-line.ts';
import { EventReader } from './event-reader.ts';
import type { NdjsonSetup } from './ndjson-file.ts';
import type { Reading, Source, SourceSink } from './source.ts';
import { isTrustedPeer, listenUnix } from './unix-server.ts';

/** More at once are turned away, so that descriptors are left for other work. */
const MOST_CLIENTS = 64;

export interface UnixSourceSetup extends NdjsonSetup {
  /** Of this process: clients must be the same user, or root. */
  readonly uid: number;
  /** A client that was turned away, and why. */
  readonly onRefused?: ((reason: string) => void) | undefined;
}

export class UnixSource implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #setup: UnixSourceSetup;
  readonly #coverage = new Coverage();
  readonly #clients = new Set<Net.Socket>();
  #accepted = 0;

  constructor(setup: UnixSourceSetup) {
    this.name = setup.name;
    this.rank = setup.rank;
    this.#setup = setup;
  }

  /** Clients that are connected. */
  get clients(): number {
    return this.#clients.size;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  async read(): Promise<Reading> {
    throw new UnreachableError(
      `Cannot read source ${this.name}: its clients come when they like, it can only be followed`,
      {
        code: 'SOURCE_NOT_READABLE',
        hint: 'use it with ipc listen; compare with the running listen or with a snapshot instead',
      },
    );
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { createServer } = require('node:net') as typeof Net;
    const failed = new AbortController();
    const server = createServer((socket) => {
      this.#serve(socket, sink).catch((error) => failed.abort(error));
    });
    server.maxConnections = MOST_CLIENTS;
    server.on('drop', () => this.#setup.onRefused?.(`there are ${MOST_CLIENTS} clients already`));
    await listenUnix(server, this.#setup.path);
    const stop = AbortSignal.any([signal, failed.signal]);
    try {
      if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
    } finally {
      for (const socket of this.#clients) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
    if (!signal.aborted) throw failed.signal.reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #serve(socket: Net.Socket, sink: SourceSink): Promise<void> {
    socket.on('error', () => {});
    if (!isTrustedPeer(socket, this.#setup.uid)) {
      this.#setup.onRefused?.('it is of another user');
      socket.destroy();
      return;
    }
    this.#clients.add(socket);
    const reader = this.#reader(++this.#accepted, sink);
    try {
      for await (const chunk of socket) {
        reader.push(chunk);
        await sink.drained?.();
      }
      reader.end();
    } catch (error) {
      // A client that breaks off has said what it has said; only a bad line may end everything.
      if (error instanceof MalformedError) throw error;
    } finally {
      this.#clients.delete(socket);
      socket.destroy();
    }
  }

  #reader(client: number, sink: SourceSink): EventReader {
    const { path, strict, onBadLine } = this.#setup;
    return new EventReader({
      name: `${path} (client ${client})`,
      source: this.rank,
      onEvent: (event: LineEvent) => {
        if (event.op === 'synced') {
          sink.synced();
          return;
        }
        if (event.op === 'upsert') this.#coverage.add(event.record.key, event.record.identity);
        sink.event(event);
      },
      onUpsert:
        sink.upsert &&
        ((upsert) => {
          this.#coverage.addKey(upsert.key, upsert.identity);
          sink.upsert?.(upsert);
        }),
      onBadLine: (error) => {
        onBadLine?.(error);
        if (strict) throw error;
      },
    });
  }
}
