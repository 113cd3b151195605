/** Shapes that the golden topics about labels, identities and allocators share. */
import type { CachingAllocator } from '../../src/lib/identity/caching-allocator.ts';
import { formatLabel, type Label } from '../../src/lib/identity/label.ts';
import type { Labels } from '../../src/lib/identity/labels.ts';
import { labelsModel } from '../../src/lib/identity/labels-format.ts';
import type { Identity, LocalAllocator } from '../../src/lib/identity/local-allocator.ts';
import { DEFAULT_IDENTITY_OPTIONS, type IdentityOptions } from '../../src/lib/identity/options.ts';

export interface GoldenOptions {
  readonly enableIPv4?: boolean;
  readonly enableIPv6?: boolean;
  readonly policyCIDRMatchMode?: readonly string[];
  readonly enableNodeSelectorLabels?: boolean;
}

export function goldenOptions(options: GoldenOptions = {}, maxConnectedClusters = 255): IdentityOptions {
  return {
    ...DEFAULT_IDENTITY_OPTIONS,
    enableIPv4: options.enableIPv4 ?? false,
    enableIPv6: options.enableIPv6 ?? false,
    policyCidrMatchMode: options.policyCIDRMatchMode ?? [],
    perNodeLabels: options.enableNodeSelectorLabels ?? false,
    maxConnectedClusters: maxConnectedClusters === 511 ? 511 : 255,
  };
}

export function texts(labels: Iterable<Label>): string[] {
  return [...labels].map(formatLabel);
}

export function identityRow(identity: Identity): { id: number; labels: string[]; refcount: number } {
  return { id: identity.id, labels: labelsModel(identity.labels), refcount: identity.refCount };
}

function allocatorState(allocator: LocalAllocator) {
  return {
    identities: [...allocator.identities()].map(identityRow).sort((a, b) => a.id - b.id),
    next: allocator.next,
    withheld: [...allocator.withheld].sort((a, b) => a - b),
  };
}

export function localState(allocator: LocalAllocator) {
  return allocatorState(allocator);
}

export function cachingState(allocator: CachingAllocator) {
  return { local: allocatorState(allocator.local), remoteNode: allocatorState(allocator.remoteNode) };
}

export function labelTexts(labels: ReadonlyMap<number, Labels>): Record<string, string[]> {
  return Object.fromEntries([...labels].map(([id, set]) => [String(id), labelsModel(set)]));
}
