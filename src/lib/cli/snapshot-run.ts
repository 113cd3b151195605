/** `ipc snapshot` between its flags and its report. */
import { IncompleteError } from '../errors.ts';
import type { ByteWriter } from '../output/byte-writer.ts';
import type { SnapshotModel } from '../output/snapshot-view.ts';
import { countEntries, guardReplacement } from '../snapshot/guard-replacement.ts';
import { Redactor } from '../snapshot/redactor.ts';
import { convertedContent, liveContent } from '../snapshot/snapshot-content.ts';
import { keepNewest } from '../snapshot/snapshot-directory.ts';
import { snapshotOpener } from '../snapshot/snapshot-opener.ts';
import { storeSnapshot } from '../snapshot/store-snapshot.ts';
import { type SnapshotContent, writeSnapshot } from '../snapshot/write-snapshot.ts';
import { openRedactKey, readRedactKey } from '../state/redact-key.ts';
import { lineFormat } from './line-format.ts';
import { readStdinBytes } from './read-stdin.ts';
import type { SharedValues } from './shared-flags.ts';
import { makeDirectory, type SnapshotTarget, targetFiles } from './snapshot-target.ts';
import { type TakeLive, takeLive } from './take-live.ts';
import { useIpcache } from './use-ipcache.ts';

export interface SnapshotRunOptions extends Omit<TakeLive, 'flags' | 'shared'> {
  readonly flags: TakeLive['flags'] & {
    readonly from?: string | undefined;
    readonly force: boolean;
    readonly redact: boolean;
    readonly 'redact-key'?: string | undefined;
    readonly 'dry-run': boolean;
  };
  readonly shared: Pick<SharedValues, 'map' | 'bpffs' | 'layout' | 'state-dir'>;
  readonly tcBpfMnt: string | undefined;
}

/** What is to be written, and what is known of it beforehand. */
interface Prepared {
  readonly content: SnapshotContent;
  readonly entries: number;
  readonly localEntries: number;
  readonly unlabelled: number | null;
}

export class SnapshotRun {
  readonly #options: SnapshotRunOptions;

  constructor(options: SnapshotRunOptions) {
    this.#options = options;
  }

  /** Writes it to standard output. @throws {IncompleteError} afterwards, when it does not cover the map */
  async print(out: ByteWriter): Promise<void> {
    await this.#withContent(async ({ content }) => {
      const { complete } = await writeSnapshot(content, (bytes) => out.write(bytes));
      if (!complete) throw this.#incomplete();
    });
  }

  /** Writes it to a file. @returns the report, and the failure to throw after it */
  async store(
    target: Exclude<SnapshotTarget, { kind: 'stdout' }>,
  ): Promise<{ model: SnapshotModel; failure: IncompleteError | undefined }> {
    const { flags } = this.#options;
    return this.#withContent(async ({ content, entries, localEntries, unlabelled }) => {
      const { path, replaces } = targetFiles(target, content.header.time);
      if (replaces !== undefined && !flags.force) await guardReplacement(replaces, { entries, localEntries });
      if (!flags['dry-run']) makeDirectory(target);
      const end = flags['dry-run'] ? await writeSnapshot(content, () => {}) : await storeSnapshot(path, content);
      const removed = target.kind === 'directory' && !flags['dry-run'] ? keepNewest(target.path, target.keep) : [];
      const { complete, identities } = end;
      const model = {
        header: content.header,
        file: path,
        from: flags.from,
        complete,
        changed: !flags['dry-run'],
        dryRun: flags['dry-run'],
        entries,
        localEntries,
        identities,
        unlabelled,
        removed,
      };
      return { model, failure: complete ? undefined : this.#incomplete() };
    });
  }

  async #withContent<Result>(use: (prepared: Prepared) => Promise<Result>): Promise<Result> {
    const redactor = await this.#redactor();
    const { flags, runtime } = this.#options;
    const { from } = flags;
    if (from !== undefined) {
      const open = snapshotOpener(from, () => readStdinBytes(runtime.stdin, 'a snapshot'));
      const counts = await countEntries(await open());
      await using reader = await open();
      return await use({ content: await convertedContent(reader, lineFormat, redactor), ...counts, unlabelled: null });
    }
    using ipcache = await useIpcache(this.#options);
    const live = await takeLive(ipcache, this.#options);
    const { localEntries } = live;
    const unlabelled = flags.labels ? live.unlabelled : null;
    const content = liveContent(live, lineFormat, redactor);
    return await use({ content, entries: live.table.count, localEntries, unlabelled });
  }

  async #redactor(): Promise<Redactor | undefined> {
    const { flags, shared } = this.#options;
    const file = flags['redact-key'];
    if (file !== undefined) return new Redactor(readRedactKey(file));
    return flags.redact ? new Redactor(await openRedactKey(shared['state-dir'])) : undefined;
  }

  #incomplete(): IncompleteError {
    const from = this.#options.flags.from;
    const state = from === undefined ? 'the map changed faster than it could be read' : `${from} does not either`;
    return new IncompleteError(`Cannot make a complete snapshot: ${state}`, {
      code: 'WALK_INCOMPLETE',
      hint: 'it was written and says so in its end line; take another one when the map changes less',
    });
  }
}
