/** Where the monitor's lines go: standard output, a file that grows, or whoever connects to a socket. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type * as Net from 'node:net';
import { UsageError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import { isTrustedPeer, listenUnix } from '../sources/unix-server.ts';

export interface MonitorOutput {
  write(line: string): void;
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

export interface OpenMonitorOptions {
  /** `ndjson:-`, `ndjson:FILE` or `unix:PATH`. */
  readonly target: string;
  readonly stdout: () => { write(bytes: Uint8Array): void };
  /** Of this process. */
  readonly uid: number;
  /** A client that does not read was turned away: the map does not wait for it. */
  readonly onSlowClient: () => void;
  /** Lines could not be written and are gone; called once until some can be written again. */
  readonly onFailure: (error: unknown) => void;
}

const BUFFER_CHARS = 64 * 1024;
const FLUSH_MS = 50;
const NEWLINE = 10;
/** For clients to read the last lines. */
const LAST_READ_MS = 500;
/** More that a client has not read is more than it will ever catch up with. */
const MOST_UNREAD_BYTES = 16 << 20;

/** @throws {UsageError} no such kind of target @throws {ToolError} what the file system answers */
export async function openMonitor(options: OpenMonitorOptions): Promise<MonitorOutput> {
  const { target, onFailure } = options;
  if (target === 'ndjson:-') {
    const out = options.stdout();
    return new Buffered({ write: (text) => out.write(Buffer.from(text)), end: async () => {}, onFailure });
  }
  const [, kind, path] = /^(ndjson|unix):(.+)$/s.exec(target) ?? [];
  if (kind === 'ndjson' && path !== undefined) return openFile(path, onFailure);
  if (kind === 'unix' && path !== undefined) return openSocket(path, options);
  throw new UsageError(`Cannot use ${JSON.stringify(target)} as a monitor: it is no target`, {
    code: 'BAD_MONITOR',
    hint: 'targets are ndjson:-, ndjson:FILE and unix:PATH',
  });
}

interface BufferedSetup {
  readonly write: (text: string) => void;
  readonly end: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Lines are gathered for a moment: a write for each of them would take longer than the map does. */
class Buffered implements MonitorOutput {
  readonly #setup: BufferedSetup;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(setup: BufferedSetup) {
    this.#setup = setup;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= BUFFER_CHARS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  async close(): Promise<void> {
    this.#flush();
    await this.#setup.end();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = '';
    if (text === '') return;
    try {
      this.#setup.write(text);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#setup.onFailure(error);
      this.#hasFailed = true;
    }
  }
}

function openFile(path: string, onFailure: (error: unknown) => void): MonitorOutput {
  let fd: number;
  try {
    fd = openSync(path, 'a', 0o640);
  } catch (cause) {
    throw fileError('write monitor', path, cause);
  }
  let isTorn = false;
  const write = (text: string): void => {
    // What failed in the middle of a line must not spoil the next one too.
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(fd, bytes, at);
      isTorn = false;
    } catch (cause) {
      if (at > 0) isTorn = bytes[at - 1] !== NEWLINE;
      throw fileError('write monitor', path, cause);
    }
  };
  return new Buffered({ write, end: async () => closeSync(fd), onFailure });
}

async function openSocket(path: string, { uid, onSlowClient, onFailure }: OpenMonitorOptions): Promise<MonitorOutput> {
  const { createServer } = require('node:net') as typeof Net;
  const clients = new Set<Net.Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (!isTrustedPeer(socket, uid)) {
      socket.destroy();
      return;
    }
    socket.resume();
    socket.once('close', () => clients.delete(socket));
    clients.add(socket);
  });
  await listenUnix(server, path);
  const write = (text: string): void => {
    for (const socket of clients) {
      if (socket.writableLength < MOST_UNREAD_BYTES) socket.write(text);
      else {
        onSlowClient();
        socket.destroy();
      }
    }
  };
  const end = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of clients) socket.end();
    const timer = setTimeout(() => {
      for (const socket of clients) socket.destroy();
    }, LAST_READ_MS);
    await closed;
    clearTimeout(timer);
  };
  return new Buffered({ write, end, onFailure });
}
