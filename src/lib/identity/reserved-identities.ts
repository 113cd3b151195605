/** Label sets that have a fixed number and are never allocated (Cilium 1.21, LookupReservedIdentityByLabels). */
import { UsageError } from '../errors.ts';
import { reservedLabel, SOURCE_RESERVED } from './label.ts';
import { Labels } from './labels.ts';
import type { Identity } from './local-allocator.ts';
import { isUserReserved, type NumericIdentity, numericIdentity, parseNumericIdentity } from './numeric-identity.ts';
import { type IdentityOptions, selectsNodes } from './options.ts';
import {
  IDENTITY_HOST,
  IDENTITY_KUBE_APISERVER,
  IDENTITY_REMOTE_NODE,
  IDENTITY_UNKNOWN,
  RESERVED_ROWS,
  reservedByName,
  reservedRow,
} from './reserved.ts';
import { type WellKnownSettings, wellKnownIdentities } from './well-known.ts';

/** Asks for one of the numbers that users may reserve; its value is the name. */
export const FIXED_IDENTITY_KEY = 'io.cilium.fixed-identity';

export interface ReservedIdentitiesOptions {
  /** Number text → name, as the agent's `--fixed-identity-mapping` has them. */
  readonly userReserved?: Readonly<Record<string, string>>;
  /** Absent: no well-known identities. */
  readonly wellKnown?: WellKnownSettings;
}

export class ReservedIdentities {
  readonly #options: IdentityOptions;
  readonly #byId = new Map<number, Identity>();
  readonly #wellKnown = new Map<string, Identity>();
  readonly #userNames = new Map<string, NumericIdentity>();

  /** @throws {UsageError} when a number in `userReserved` is none or not between 128 and 255 */
  constructor(options: IdentityOptions, extra: ReservedIdentitiesOptions = {}) {
    this.#options = options;
    for (const { id, name } of RESERVED_ROWS) {
      if (id !== IDENTITY_UNKNOWN) this.#byId.set(id, fixed(id, reservedLabels(id, name)));
    }
    for (const { id, labels } of extra.wellKnown ? wellKnownIdentities(extra.wellKnown) : []) {
      const identity = fixed(id, Labels.parse(labels));
      this.#byId.set(id, identity);
      this.#wellKnown.set(identity.labels.sortedList, identity);
    }
    for (const [text, name] of Object.entries(extra.userReserved ?? {})) this.#addUser(text, name);
  }

  /** The name of a number, or its digits. */
  name(id: number): string {
    for (const [name, reserved] of this.#userNames) if (reserved === id) return name;
    return reservedRow(id)?.name ?? String(id);
  }

  /** Whether the number has a fixed name: 0 to 14 and what users reserved. Well-known ones have none. */
  isReserved(id: number): boolean {
    return reservedRow(id) !== undefined || (isUserReserved(id) && this.#byId.has(id));
  }

  /** @returns undefined for 0 and for everything that is not reserved */
  lookupById(id: number): Identity | undefined {
    return this.#byId.get(id);
  }

  /**
   * The fixed identity of a label set. Host and remote node come with the labels that were asked for, the others with
   * their own. Membership goes by map key alone: `k8s:remote-node` beside a reserved label makes a remote node.
   */
  lookupByLabels(labels: Labels): Identity | undefined {
    if (this.#wellKnown.size > 0) {
      const wellKnown = this.#wellKnown.get(labels.sortedList);
      if (wellKnown?.labels.equals(labels)) return wellKnown;
    }
    const wish = labels.get(FIXED_IDENTITY_KEY);
    if (wish !== undefined) return this.#fixedByName(wish.value);
    if (!isReservedSet(labels)) return undefined;
    if (labels.has('host')) return fixed(IDENTITY_HOST, labels);
    if (labels.has('remote-node')) {
      if (selectsNodes(this.#options)) return undefined;
      return fixed(labels.has('kube-apiserver') ? IDENTITY_KUBE_APISERVER : IDENTITY_REMOTE_NODE, labels);
    }
    const [only, ...others] = labels;
    if (only === undefined || others.length > 0) return undefined;
    const id = reservedByName(only.key);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** An unknown name gives nothing, so that no label of the set can fall to a reserved identity either. */
  #fixedByName(name: string): Identity | undefined {
    const id = this.#userNames.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  #addUser(text: string, name: string): void {
    const id = parseNumericIdentity(text);
    if (!isUserReserved(id)) {
      throw new UsageError(
        `Cannot reserve identity ${text} for ${JSON.stringify(name)}: not a user reserved identity`,
        {
          code: 'BAD_IDENTITY',
          hint: 'numbers from 128 to 255 are for users',
        },
      );
    }
    this.#userNames.set(name, id);
    this.#byId.set(id, fixed(id, Labels.of([reservedLabel(name)])));
  }
}

/** Whether any label has the source `reserved`. */
export function isReservedSet(labels: Labels): boolean {
  return labels.some((label) => label.source === SOURCE_RESERVED);
}

function reservedLabels(id: number, name: string): Labels {
  const names = id === IDENTITY_KUBE_APISERVER ? [name, 'remote-node'] : [name];
  return Labels.of(names.map(reservedLabel));
}

function fixed(id: number, labels: Labels): Identity {
  return { id: numericIdentity(id), labels, refCount: 0 };
}
