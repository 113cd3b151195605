/** How `ipc diff` comes from the words A and B to what is compared. */
import { parseMapRef } from '../bpf/map-ref.ts';
import type { DiffInput, DiffReading } from '../diff/diff-input.ts';
import type { ForetellInput } from '../diff/foretell-diff.ts';
import { snapshotInput } from '../diff/snapshot-input.ts';
import { UsageError } from '../errors.ts';
import { Labels } from '../identity/labels.ts';
import { numericIdentity } from '../identity/numeric-identity.ts';
import { IdentityTable } from '../snapshot/identity-table.ts';
import { formatIdentity } from '../snapshot/lines.ts';
import type { LiveSnapshot } from '../snapshot/live-snapshot.ts';
import { readTable, snapshotLayout } from '../snapshot/read-table.ts';
import { snapshotOpener } from '../snapshot/snapshot-opener.ts';
import { tableLines } from '../snapshot/table-lines.ts';
import { lineFormat } from './line-format.ts';
import { readStdinBytes } from './read-stdin.ts';
import { readAllocatorState } from './restore-source.ts';
import type { SharedValues } from './shared-flags.ts';
import { type TakeLive, takeLive } from './take-live.ts';
import { useIpcache } from './use-ipcache.ts';

export interface DiffInputOptions extends Omit<TakeLive, 'shared'> {
  readonly shared: Pick<SharedValues, 'map' | 'bpffs' | 'layout' | 'state-dir'>;
  readonly tcBpfMnt: string | undefined;
}

/**
 * @param words the arguments; without the second one it is the map of `--map`, or the one of this node
 * @throws {UsageError}
 */
export function diffInputs(
  words: readonly [string, string | undefined],
  options: DiffInputOptions,
): [DiffInput, DiffInput] {
  const [a, b] = words;
  if (a === '-' && b === '-') throw usage('standard input can be only one of the two');
  if (b !== undefined && options.shared.map !== undefined)
    throw usage('--map is the second one, where only one is given');
  return [inputOf(a, options), inputOf(b, options)];
}

/** @throws {UsageError} where `--as-agent` is given something to compare with */
export function requireAlone(b: string | undefined): void {
  if (b !== undefined) throw usage('--as-agent compares one snapshot or map with what will become of it');
}

function inputOf(word: string | undefined, options: DiffInputOptions): DiffInput {
  const map = word ?? options.shared.map;
  const ref = map === undefined ? undefined : parseMapRef(map);
  if (word !== undefined && ref?.kind === 'file') {
    return snapshotInput(word, () => readStdinBytes(options.runtime.stdin, 'a snapshot'));
  }
  return {
    label: map ?? 'the map of this node',
    live: true,
    async open() {
      using ipcache = await useIpcache({ ...options, shared: { ...options.shared, map } });
      // Labels explain a difference; the difference itself is in the map.
      return new LiveReading(await takeLive(ipcache, { ...options, patienceMs: 0 }));
    },
  };
}

/**
 * What `--as-agent` looks at.
 * @param word the argument: a snapshot or a map
 * @throws {ToolError} what reading it throws
 */
export async function foretellInput(word: string, options: DiffInputOptions): Promise<ForetellInput> {
  const ref = parseMapRef(word);
  if (ref.kind === 'file') {
    const open = snapshotOpener(word, () => readStdinBytes(options.runtime.stdin, 'a snapshot'));
    await using reader = await open();
    const { header, identities } = reader;
    const table = await readTable(reader);
    const records = [...identities].map(({ identity, labels }) => ({
      id: numericIdentity(identity),
      labels: Labels.parse(labels),
    }));
    const { complete } = reader.end;
    const layout = snapshotLayout(header.map);
    return { header, identities, table, layout, complete, records: records.length === 0 ? undefined : records };
  }
  using ipcache = await useIpcache({ ...options, shared: { ...options.shared, map: word } });
  const live = await takeLive(ipcache, options);
  const { records } = readAllocatorState(options.flags, options.logger);
  return { ...live, identities: identityTable(live), records };
}

/** What was read of a live map, as the lines of a snapshot. */
class LiveReading implements DiffReading {
  readonly #live: LiveSnapshot;
  readonly identities: IdentityTable;

  constructor(live: LiveSnapshot) {
    this.#live = live;
    this.identities = identityTable(live);
  }

  get header() {
    return this.#live.header;
  }

  get end() {
    return { entries: this.#live.table.count, complete: this.#live.complete };
  }

  async *entryBlocks(): AsyncGenerator<Uint8Array, void> {
    yield* tableLines(this.#live.table, this.#live.layout, lineFormat);
  }

  async explainDamage(): Promise<Error> {
    return new Error('an entry of a live map was formatted as a line that cannot be read');
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function identityTable({ identities }: LiveSnapshot): IdentityTable {
  const lines = identities.map((identity) => `${formatIdentity(identity)}\n`);
  return new IdentityTable(Buffer.from(lines.join('')), 'the allocator checkpoint', 1);
}

function usage(state: string): UsageError {
  return new UsageError(`Cannot compare: ${state}`, { code: 'DIFF_INPUTS', hint: 'see ipc diff --help' });
}
