/** The bytes of a snapshot file in order, whether it is plain or gzip: its content tells, not its name. */
import { type FileHandle, open } from 'node:fs/promises';
import type * as Stream from 'node:stream';
import type * as Zlib from 'node:zlib';
import { MalformedError } from '../errors.ts';
import { errnoOf, fileError } from '../fs/file-error.ts';

const CHUNK_BYTES = 1 << 20;
const GUNZIP_CHUNK_BYTES = 1 << 18;

/** A gzip stream that ended too early; what came before it is good. */
export class GzipCutOff extends Error {}

/**
 * Reads a file, or standard input for `-`.
 * @yields bytes that are valid until the next step
 * @throws {ToolError} as `fileError` does; {@link GzipCutOff}; {MalformedError} for damaged gzip data
 */
export async function* readChunks(file: string): AsyncGenerator<Uint8Array, void> {
  const handle = await openForReading(file);
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    const first = await readInto(handle, buffer, file);
    if (first.length >= 2 && first[0] === 0x1f && first[1] === 0x8b) {
      yield* gunzip(handle, first, file);
      return;
    }
    for (let chunk = first; chunk.length > 0; chunk = await readInto(handle, buffer, file)) yield chunk;
  } finally {
    await handle.close();
  }
}

async function openForReading(file: string): Promise<FileHandle> {
  try {
    return await open(file === '-' ? '/dev/stdin' : file, 'r');
  } catch (cause) {
    throw fileError('read snapshot', file, cause);
  }
}

/** At least two bytes unless the file ends, so that the magic number is seen also on a pipe. */
async function readInto(handle: FileHandle, buffer: Uint8Array, file: string): Promise<Uint8Array> {
  let length = 0;
  try {
    while (length < 2) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
  } catch (cause) {
    throw fileError('read snapshot', file, cause);
  }
  return buffer.subarray(0, length);
}

async function* gunzip(handle: FileHandle, first: Uint8Array, file: string): AsyncGenerator<Uint8Array, void> {
  const { createGunzip } = require('node:zlib') as typeof Zlib;
  const stream = require('node:stream') as typeof Stream;
  const gunzipStream = createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES });
  const compressed = stream.Readable.from(rest(handle, first, file), { objectMode: false });
  compressed.on('error', (error) => gunzipStream.destroy(error));
  try {
    for await (const chunk of compressed.pipe(gunzipStream)) yield chunk as Uint8Array;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'Z_BUF_ERROR') throw new GzipCutOff();
    if (errnoOf(cause) !== undefined || !(typeof code === 'string' && code.startsWith('Z_'))) throw cause;
    throw new MalformedError(`Cannot read snapshot ${file}: its gzip data is damaged`, {
      code: 'SNAPSHOT_DAMAGED',
      cause,
      hint: 'take the snapshot again, or use an older one; the file is left as it is',
      operands: { file },
    });
  } finally {
    compressed.destroy();
    gunzipStream.destroy();
  }
}

async function* rest(handle: FileHandle, first: Uint8Array, file: string): AsyncGenerator<Uint8Array, void> {
  yield first;
  for (;;) {
    const chunk = await readInto(handle, new Uint8Array(GUNZIP_CHUNK_BYTES), file);
    if (chunk.length === 0) return;
    yield chunk;
  }
}
