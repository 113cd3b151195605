/** Compresses what is written on its way to somewhere else. */
import { once } from 'node:events';
import type * as Zlib from 'node:zlib';
import type { WriteBytes } from './write-snapshot.ts';

export interface GzipWriter {
  readonly write: WriteBytes;
  /** Everything is with the receiver when it is done. */
  end(): Promise<void>;
}

/** @param receive gets the compressed bytes in order */
export function gzipTo(receive: WriteBytes): GzipWriter {
  const { createGzip } = require('node:zlib') as typeof Zlib;
  const gzip = createGzip();
  const received = (async () => {
    for await (const chunk of gzip) await receive(chunk as Uint8Array);
  })();
  // A failed receiver is reported by the next write or by end(), not as an unhandled rejection.
  received.catch(() => {});
  return {
    async write(bytes) {
      // The compressor reads it later, when the caller has long gone on.
      if (!gzip.write(Buffer.from(bytes))) await Promise.race([once(gzip, 'drain'), received]);
    },
    async end() {
      gzip.end();
      await received;
    },
  };
}
