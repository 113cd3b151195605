/** A snapshot file as one side of a comparison. */

import { wrongSum } from '../snapshot/damage.ts';
import { readChunks } from '../snapshot/file-chunks.ts';
import { findDamage } from '../snapshot/read-rows.ts';
import { openSnapshot, type SnapshotReader } from '../snapshot/snapshot-reader.ts';
import type { DiffInput, DiffReading } from './diff-input.ts';

/** @param file a path, or `-` for standard input, which is then kept in memory */
export function snapshotInput(file: string): DiffInput {
  let kept: Promise<Uint8Array> | undefined;
  const open = async (): Promise<SnapshotReader> => {
    if (file !== '-') return openSnapshot(file);
    kept ??= readAll(file);
    return openSnapshot(file, once(await kept));
  };
  return {
    label: file,
    live: false,
    async open(): Promise<DiffReading> {
      return new SnapshotReading(await open(), async () => findDamage(await open()));
    },
  };
}

class SnapshotReading implements DiffReading {
  readonly #reader: SnapshotReader;
  readonly #findDamage: () => Promise<void>;

  constructor(reader: SnapshotReader, findDamage: () => Promise<void>) {
    this.#reader = reader;
    this.#findDamage = findDamage;
  }

  get header() {
    return this.#reader.header;
  }

  get identities() {
    return this.#reader.identities;
  }

  get end() {
    return this.#reader.end;
  }

  entryBlocks(): AsyncGenerator<Uint8Array, void> {
    return this.#reader.entryBlocks();
  }

  async explainDamage(): Promise<never> {
    await this.#findDamage();
    throw wrongSum(this.#reader.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }
}

async function readAll(file: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of readChunks(file)) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (bytes.length > 0) yield bytes;
}
