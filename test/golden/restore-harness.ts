/**
 * The steps `restore` and `releaseRestored` of topics 10 and 13, beside those of topic 9, on a map that the caller brings:
 * the kernel's own, or a table in memory.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IpcacheEvent } from '../../src/lib/cache/listener.ts';
import { BpfListener } from '../../src/lib/datapath/bpf-listener.ts';
import { nodeIPs } from '../../src/lib/datapath/node-addresses.ts';
import { ToolError } from '../../src/lib/errors.ts';
import type { IdentityRecord } from '../../src/lib/identity/caching-allocator.ts';
import { readCheckpoint } from '../../src/lib/identity/checkpoint.ts';
import { checkpointChunks } from '../../src/lib/identity/checkpoint-write.ts';
import { ciliumKeyString } from '../../src/lib/ipcache/cilium-key.ts';
import { ciliumValueString } from '../../src/lib/ipcache/cilium-value.ts';
import { hexOf } from '../../src/lib/ipcache/key.ts';
import { type Layout, layoutNamed } from '../../src/lib/ipcache/layout.ts';
import { decodeValue } from '../../src/lib/ipcache/remote-endpoint-info.ts';
import { type AgentCandidate, agentCandidate } from '../../src/lib/restore/agent-candidates.ts';
import { AgentRestorer } from '../../src/lib/restore/as-agent.ts';
import { CacheHarness, type GoldenOptions, sortedEvents } from './cache-harness.ts';
import { type GoldenStep, runStep } from './cache-steps.ts';

export interface RestoreInput {
  readonly options?: GoldenOptions;
  readonly checkpoint?: string | null;
  readonly checkpointBase64?: string;
  readonly mapKind: string;
  readonly mapName: string;
  readonly map?: readonly { readonly keyHex: string; readonly valueHex: string }[] | null;
  readonly underlay?: string;
  readonly nodeAddresses?: readonly { readonly type: string; readonly ip: string }[];
  readonly steps: readonly GoldenStep[];
}

export interface RestoreExpect {
  readonly steps?: readonly ExpectedRestoreStep[];
  readonly anyOf?: readonly { readonly steps: readonly ExpectedRestoreStep[] }[];
  readonly orderSensitive?: boolean;
}

export interface ExpectedRestoreStep {
  readonly panic?: string;
  readonly [field: string]: unknown;
}

/** The two maps of a case. */
export interface CaseMaps {
  /** Entries of the outgoing map, in any order. @throws {ToolError} when it cannot be read as an ipcache */
  outgoing(): readonly { readonly key: Uint8Array; readonly value: Uint8Array }[] | Promise<OutgoingEntries>;
  /** The pin is replaced by a new, empty map. */
  recreate(): void;
  update(key: Uint8Array, value: Uint8Array): void;
  remove(key: Uint8Array): void;
  /** Entries of the new map. */
  entries(): { readonly key: Uint8Array; readonly value: Uint8Array }[] | Promise<OutgoingEntries>;
}
export type OutgoingEntries = { readonly key: Uint8Array; readonly value: Uint8Array }[];

const INVALID = 'invalid Prefix';

export class RestoreHarness implements Disposable {
  readonly #input: RestoreInput;
  readonly #maps: CaseMaps;
  readonly #layout: Layout;
  readonly #cache: CacheHarness;
  readonly #restorer: AgentRestorer;
  readonly #directory = mkdtempSync(join(tmpdir(), 'ipc-golden-10-'));
  /** The invalid prefix has metadata upstream, which nothing can resolve; ours has no place for it. */
  #invalid: number | undefined;
  #invalidQueued = false;
  #invalidShared = false;

  constructor(input: RestoreInput, maps: CaseMaps) {
    this.#input = input;
    this.#maps = maps;
    this.#layout = layoutNamed('v2');
    this.#cache = new CacheHarness({ strictUpstream: true, options: input.options });
    this.#restorer = new AgentRestorer(this.#cache);
  }

  async run(step: GoldenStep): Promise<unknown> {
    if (step.op === 'restore') return this.#restore();
    if (step.op === 'releaseRestored') return this.#release();
    const seen = runStep(this.#cache, step);
    const queue = 'queued' in seen && this.#invalid !== undefined ? this.#queue(seen) : {};
    return { ...seen, ...queue, ...('state' in seen ? { state: await this.#state() } : {}) };
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #restore(): Promise<unknown> {
    const errors: string[] = [];
    const attempt = async <T>(action: () => T | Promise<T>): Promise<T | undefined> => {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        errors.push(error.message);
        return undefined;
      }
    };
    const records = await attempt(() => this.#records());
    const entries = (await attempt(() => this.#maps.outgoing())) ?? [];
    const layout = entries[0]?.value.length === 12 ? layoutNamed('1.16') : this.#layout;
    const candidates = entries
      .map(({ key, value }) => agentCandidate(layout, key, 0, value, 0))
      .filter((candidate): candidate is AgentCandidate => candidate !== undefined);
    this.#restorer.restore(records, candidates);
    this.#invalid = this.#restorer.prefixes.get(INVALID);
    this.#invalidQueued = this.#invalid !== undefined;
    this.#invalidShared = [...this.#restorer.prefixes.values()].filter((id) => id === this.#invalid).length > 1;
    const events = this.#cache.takeEvents();
    this.#maps.recreate();
    const listener = new BpfListener({
      layout: this.#layout,
      rules: {
        underlay: this.#input.underlay === 'ipv6' ? 'ipv6' : 'ipv4',
        node: nodeIPs(this.#input.nodeAddresses ?? []),
      },
      changes: {
        upsert: (key, value) => this.#maps.update(key, value),
        remove: (key) => this.#maps.remove(key),
      },
    });
    this.#cache.cache.addListener({ onIpcacheEvent: (event: IpcacheEvent) => listener.onIpcacheEvent(event) });
    return {
      result: { error: errors.length === 0 ? null : errors.join('\n') },
      queued: this.#queued(this.#cache.cache.queued.sort()),
      events: sortedEvents(events),
      selectorUpdates: this.#cache.takeSelectorUpdates(),
      state: await this.#state(),
    };
  }

  async #release(): Promise<unknown> {
    this.#invalidQueued = this.#invalid !== undefined;
    this.#restorer.release();
    this.#invalid = undefined;
    const before = { stateBeforeInjection: await this.#state() };
    const injection = this.#cache.inject();
    const queued = this.#queued(injection.queued);
    const invalid = this.#invalidQueued;
    this.#invalidQueued = false;
    return {
      result: {},
      ...injection,
      queued,
      injected: invalid ? queued : injection.injected,
      events: sortedEvents(this.#cache.takeEvents()),
      selectorUpdates: this.#cache.takeSelectorUpdates(),
      state: await this.#state(),
      ...before,
    };
  }

  #queued(queued: readonly string[]): string[] {
    return this.#invalidQueued ? [...queued, INVALID].sort() : [...queued];
  }

  #queue(seen: object): object {
    const { queued = [], injected = [] } = seen as { queued?: string[]; injected?: string[] };
    const result = { queued: this.#queued(queued), ...('injected' in seen && { injected: this.#queued(injected) }) };
    if ('injected' in seen) this.#invalidQueued = false;
    return result;
  }

  #records(): readonly IdentityRecord[] | undefined {
    const { checkpoint, checkpointBase64 } = this.#input;
    const path = join(this.#directory, 'local_allocator_state.json');
    if (checkpointBase64 !== undefined) writeFileSync(path, Buffer.from(checkpointBase64, 'base64'));
    else if (checkpoint !== null && checkpoint !== undefined) writeFileSync(path, checkpoint);
    return readCheckpoint(path, { strictUpstream: true });
  }

  async #state(): Promise<object> {
    const state = this.#cache.state();
    const { ingress, prefixes, identities } = this.#restorer;
    return {
      ...state,
      metadata: [...state.metadata, ...this.#invalidMetadata()].sort((a, b) => (a.prefix < b.prefix ? -1 : 1)),
      ingressIPs: { v4: ingress.ipv4 ?? null, v6: ingress.ipv6 ?? null },
      restoredCIDRs: Object.fromEntries(prefixes),
      restoredIdentities: [...identities.keys()].sort((a, b) => a - b),
      checkpoint: Buffer.concat([...checkpointChunks(this.#cache.allocator.identities())]).toString(),
      newMap: await this.#newMap(),
      nextLocal: this.#cache.allocator.local.next,
    };
  }

  #invalidMetadata() {
    if (this.#invalid === undefined) return [];
    const known = this.#restorer.identities.has(this.#invalid as never);
    return [
      {
        prefix: INVALID,
        resources: ['daemon//restored'],
        source: 'restored',
        labels: this.#invalidShared || known ? [] : ['reserved:world'],
        identityOverride: false,
        tunnelPeer: '',
        encryptKey: 0,
        requestedIdentity: this.#invalid,
        endpointFlags: null,
      },
    ];
  }

  async #newMap() {
    const rows = (await this.#maps.entries()).map(({ key, value }) => ({
      keyHex: hexOf(key),
      valueHex: hexOf(value),
      key: ciliumKeyString(key),
      value: ciliumValueString(decodeValue(this.#layout, value)),
    }));
    return rows.sort((a, b) => (a.keyHex < b.keyHex ? -1 : 1));
  }
}
