/** Which port names stand for which ports, by the identities that define them (Cilium 1.21, pkg/types/portmap.go). */
import type { CacheEntry, NamedPort, NamedPorts } from './listener.ts';

type PortOwner = Pick<CacheEntry, 'identity' | 'pod'>;

const NO_PORTS: NamedPorts = {};

export class NamedPortTable {
  /** Name → port → the identities that give it this meaning. */
  readonly #byName = new Map<string, Map<string, Set<number>>>();

  /** How many names are known. */
  get size(): number {
    return this.#byName.size;
  }

  /** Replaces what an identity defines through one address. @returns whether any meaning came or went */
  update(identity: number, before: NamedPorts | undefined, after: NamedPorts | undefined): boolean {
    let changed = false;
    for (const [name, port] of Object.entries(before ?? NO_PORTS)) {
      if (!samePort(after?.[name], port) && this.#remove(identity, name, port)) changed = true;
    }
    for (const [name, port] of Object.entries(after ?? NO_PORTS)) {
      if (!samePort(before?.[name], port) && this.#add(identity, name, port)) changed = true;
    }
    return changed;
  }

  /** As `update`, from what an address had and has; undefined for nothing. */
  move(before: PortOwner | undefined, after: PortOwner | undefined): boolean {
    const left = before?.pod?.namedPorts;
    const came = after?.pod?.namedPorts;
    if (left === undefined && came === undefined) return false;
    if (before !== undefined && before.identity === after?.identity) return this.update(after.identity, left, came);
    const isLess = before !== undefined && this.update(before.identity, left, undefined);
    const isMore = after !== undefined && this.update(after.identity, undefined, came);
    return isLess || isMore;
  }

  #add(identity: number, name: string, port: NamedPort): boolean {
    const ports = this.#byName.get(name) ?? new Map<string, Set<number>>();
    this.#byName.set(name, ports);
    const identities = ports.get(portText(port)) ?? new Set<number>();
    ports.set(portText(port), identities);
    if (identities.has(identity)) return false;
    identities.add(identity);
    return true;
  }

  #remove(identity: number, name: string, port: NamedPort): boolean {
    const ports = this.#byName.get(name);
    const identities = ports?.get(portText(port));
    if (ports === undefined || !identities?.delete(identity)) return false;
    if (identities.size === 0) ports.delete(portText(port));
    if (ports.size === 0) this.#byName.delete(name);
    return true;
  }
}

/** Whether two pods' port names mean the same. */
export function sameNamedPorts(a: NamedPorts = NO_PORTS, b: NamedPorts = NO_PORTS): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => samePort(b[name], a[name]));
}

function samePort(a: NamedPort | undefined, b: NamedPort | undefined): boolean {
  return a?.port === b?.port && a?.protocol === b?.protocol;
}

function portText({ port, protocol }: NamedPort): string {
  return `${port}/${protocol}`;
}
