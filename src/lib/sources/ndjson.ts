/** `ndjson:PATH`: what is at the path decides how it is read. */
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileError } from '../fs/file-error.ts';
import { lookAt } from '../fs/look-at.ts';
import { NdjsonFile, type NdjsonSetup } from './ndjson-file.ts';
import { NdjsonStream } from './ndjson-stream.ts';
import type { Source } from './source.ts';

export interface OpenNdjsonSetup extends NdjsonSetup {
  /** For the path `-`. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
}

/** @throws {ToolError} as `fileError` does, when a FIFO cannot be opened; a missing file is found when it is read */
export function openNdjson(setup: OpenNdjsonSetup): Source {
  if (setup.path === '-') return new NdjsonStream({ ...setup, input: setup.stdin });
  if (!isFifo(setup.path)) return new NdjsonFile(setup);
  return new NdjsonStream({ ...setup, input: () => openFifo(setup.path) });
}

function isFifo(path: string): boolean {
  return lookAt(path)?.isFIFO() ?? false;
}

/** Opened also for writing, so that it does not end whenever a writer leaves. */
function openFifo(path: string): Socket {
  try {
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    return new Socket({ fd, readable: true, writable: false });
  } catch (cause) {
    throw fileError('read source', path, cause);
  }
}
