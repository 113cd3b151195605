/**
 * Events in a regular file. One reading goes from its first byte to its end; the end of the file is the end of the
 * reading, with or without a `synced` event, unless one is asked for. Who follows it gets what is appended, and, when the file is replaced or
 * shortened, the difference to the new one.
 */
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { MalformedError, ToolError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import type { IdentityScope } from '../identity/numeric-identity.ts';
import type { Family } from '../net/address.ts';
import { Coverage } from './coverage.ts';
import { endMissing } from './end-missing.ts';
import type { LineEvent } from './event-line.ts';
import { EventReader } from './event-reader.ts';
import { pause } from './pause.ts';
import { ReplacedFile } from './replaced-file.ts';
import type { Reading, ReadOptions, Source, SourceRecord, SourceSink } from './source.ts';
import { SourceState } from './source-state.ts';

const CHUNK_BYTES = 1 << 18;
/** How often a followed file is looked at. */
const POLL_MS = 500;

export interface NdjsonSetup {
  readonly name: string;
  readonly rank: string;
  readonly path: string;
  /** While following, a bad line ends everything. A reading never tolerates one, because what it lost cannot be known. */
  readonly strict?: boolean | undefined;
  readonly onBadLine?: ((error: MalformedError) => void) | undefined;
}

export class NdjsonFile implements Source {
  readonly name: string;
  readonly rank: string;
  readonly #setup: NdjsonSetup;
  #coverage = new Coverage();

  constructor(setup: NdjsonSetup) {
    this.name = setup.name;
    this.rank = setup.rank;
    this.#setup = setup;
  }

  speaksFor(scope: IdentityScope, family: Family, clusterId: number): boolean {
    return this.#coverage.has(scope, family, clusterId);
  }

  async read(visit: (record: SourceRecord) => void, { signal }: ReadOptions): Promise<Reading> {
    const state = new SourceState();
    let isEnded = false;
    const reader = new EventReader({
      name: this.#setup.path,
      source: this.rank,
      onEvent: (event) => {
        if (event.op === 'synced') isEnded = true;
        else state.apply(event);
      },
      onBadLine: (error) => {
        throw error;
      },
    });
    const handle = await this.#open();
    try {
      const stats = await handle.stat({ bigint: true });
      for await (const chunk of chunks(handle, this.#setup.path)) {
        signal?.throwIfAborted();
        reader.push(chunk);
      }
      reader.end();
      // It may still be being written.
      if (!isEnded) throw endMissing(this.name);
      this.#coverage = state.coverage;
      return { revision: revisionOf(stats), records: state.visit(visit) };
    } finally {
      await handle.close();
    }
  }

  async follow(sink: SourceSink, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const file = new ReplacedFile(sink, this.#coverage);
    let isLost = false;
    while (!signal.aborted) {
      try {
        await this.#followOne(file, signal);
        isLost = false;
        if (!signal.aborted) sink.lost(`${this.#setup.path} was replaced`);
      } catch (error) {
        if (isBadLine(error)) throw error;
        if (!isLost) sink.lost((error as ToolError).message);
        isLost = true;
        await pause(POLL_MS, signal);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Until the file is replaced, shortened or gone, or the signal fires. */
  async #followOne(file: ReplacedFile, signal: AbortSignal): Promise<void> {
    const handle = await this.#open();
    try {
      file.begin();
      let isListed = false;
      const synced = (): void => {
        if (!isListed) file.end();
        isListed = true;
      };
      const reader = this.#newReader((event) => (event.op === 'synced' ? synced() : file.event(event)));
      let read = 0n;
      while (!signal.aborted) {
        for await (const chunk of chunks(handle, this.#setup.path)) {
          reader.push(chunk);
          read += BigInt(chunk.length);
          await file.sink.drained?.();
        }
        if (!reader.isMidLine) synced();
        if (await this.#isOther(handle, read)) return;
        await pause(POLL_MS, signal);
      }
    } finally {
      await handle.close();
    }
  }

  #newReader(onEvent: (event: LineEvent) => void): EventReader {
    const { path, strict, onBadLine } = this.#setup;
    return new EventReader({
      name: path,
      source: this.rank,
      onEvent,
      onBadLine: (error) => {
        onBadLine?.(error);
        if (strict) throw error;
      },
    });
  }

  /** Whether the path is another file by now, or this one was shortened. */
  async #isOther(handle: FileHandle, read: bigint): Promise<boolean> {
    const mine = await handle.stat({ bigint: true });
    if (mine.size < read || mine.nlink === 0n) return true;
    const other = await this.#open();
    try {
      const theirs = await other.stat({ bigint: true });
      return theirs.ino !== mine.ino || theirs.dev !== mine.dev;
    } finally {
      await other.close();
    }
  }

  async #open(): Promise<FileHandle> {
    try {
      return await open(this.#setup.path, 'r');
    } catch (cause) {
      throw fileError('read source', this.#setup.path, cause);
    }
  }
}

async function* chunks(handle: FileHandle, path: string): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    let bytesRead: number;
    try {
      ({ bytesRead } = await handle.read(buffer, 0, buffer.length, null));
    } catch (cause) {
      throw fileError('read source', path, cause);
    }
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function revisionOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

function isBadLine(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'BAD_EVENT';
}
