import { createReadStream, statSync } from 'node:fs';
import { fileError } from '../../fs/file-error.ts';
import { type BatchLine, batchLines } from './batch-lines.ts';

/** The lines of a batch file; a regular file can be read more than once. @throws {ToolError} as `fileError` does */
export async function* openBatch(file: string, stdin: () => NodeJS.ReadableStream): AsyncGenerator<BatchLine, void> {
  if (file === '-') {
    yield* batchLines(stdin() as AsyncIterable<Uint8Array | string>);
    return;
  }
  const stream = createReadStream(file);
  try {
    yield* batchLines(readable(stream, file));
  } finally {
    stream.destroy();
  }
}

/** Whether the whole batch can be looked at before it is run. @throws {ToolError} when there is no such file */
export function isRegularFile(file: string): boolean {
  if (file === '-') return false;
  try {
    return statSync(file).isFile();
  } catch (cause) {
    throw fileError('read batch', file, cause);
  }
}

async function* readable(stream: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* stream;
  } catch (cause) {
    throw fileError('read batch', file, cause);
  }
}
