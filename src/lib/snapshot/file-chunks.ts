/** The bytes of a snapshot in order, whether it is plain or gzip: its content tells, not its name. */
import { type FileHandle, open } from 'node:fs/promises';
import type * as Stream from 'node:stream';
import type * as Zlib from 'node:zlib';
import { MalformedError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';

const CHUNK_BYTES = 1 << 19;
const UNZIPPED_BYTES = 1 << 18;

/** A gzip stream that ended too early; what came before it is good. */
export class GzipCutOff extends Error {}

/**
 * The bytes of a file as they are stored.
 * @yields bytes that are valid until the next step
 * @throws {ToolError} as `fileError` does
 */
export async function* fileChunks(file: string): AsyncGenerator<Uint8Array, void> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (cause) {
    throw fileError('read snapshot', file, cause);
  }
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (cause) {
    throw fileError('read snapshot', file, cause);
  } finally {
    await handle.close();
  }
}

/**
 * Uncompresses what is gzip, and passes on what is not.
 * @param file for messages
 * @yields bytes that are valid until the next step
 * @throws {GzipCutOff}; {MalformedError} for damaged gzip data; what reading the chunks throws
 */
export async function* unzipped(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array, void> {
  const source = chunks[Symbol.asyncIterator]();
  try {
    const start = await firstBytes(source);
    if (start[0] === 0x1f && start[1] === 0x8b) {
      yield* gunzip(start, source, file);
      return;
    }
    if (start.length > 0) yield start;
    for (let step = await source.next(); step.done !== true; step = await source.next()) yield step.value;
  } finally {
    await source.return?.();
  }
}

/** At least two bytes unless there are fewer, so that the magic number is seen also when a pipe brings one at a time. */
async function firstBytes(source: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let start: Uint8Array = new Uint8Array();
  while (start.length < 2) {
    const step = await source.next();
    if (step.done === true) break;
    start = start.length === 0 ? step.value : Buffer.concat([start, step.value]);
  }
  return start;
}

async function* gunzip(
  start: Uint8Array,
  source: AsyncIterator<Uint8Array>,
  file: string,
): AsyncGenerator<Uint8Array, void> {
  const { createGunzip } = require('node:zlib') as typeof Zlib;
  const { Readable, pipeline } = require('node:stream') as typeof Stream;
  const compressed = Readable.from(copies(start, source), { objectMode: false });
  // The error of either end is what the loop below throws.
  const plain = pipeline(compressed, createGunzip({ chunkSize: UNZIPPED_BYTES }), () => {});
  try {
    for await (const chunk of plain) yield chunk as Uint8Array;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code === 'Z_BUF_ERROR') throw new GzipCutOff();
    if (errnoOf(cause) !== undefined || !code.startsWith('Z_')) throw cause;
    throw new MalformedError(`Cannot read snapshot ${file}: its gzip data is damaged`, {
      code: 'SNAPSHOT_DAMAGED',
      cause,
      hint: 'take the snapshot again, or use an older one; the file is left as it is',
      operands: { file },
    });
  } finally {
    plain.destroy();
    compressed.destroy();
  }
}

/** The decompressor reads a chunk when the next one has long been asked for. */
async function* copies(start: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(start);
  for (let step = await source.next(); step.done !== true; step = await source.next()) yield Buffer.from(step.value);
}
