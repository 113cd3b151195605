/**
 * Who asked for metadata on a prefix: `kind/namespace/name`, as Cilium's pkg/ipcache/types (1.21-dev) writes it.
 * The text orders resources of one source, so it must be built exactly like this.
 */

export interface ResourceId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Joins the three parts; empty parts stay as empty text between the slashes (`daemon//restored`). */
export function newResourceID(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** The part between the first and the second slash. @returns empty text when there are fewer than two slashes. */
export function resourceNamespace(id: string): string {
  const parts = id.split('/');
  return parts.length < 3 ? '' : (parts[1] ?? '');
}
