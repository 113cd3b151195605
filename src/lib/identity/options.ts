/** The settings of an agent that change what labels and numbers mean (Cilium 1.21, pkg/option). */

export interface IdentityOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  /** `nodes`: CIDR policies may select nodes, so remote nodes get identities of their own. */
  readonly policyCidrMatchMode: readonly string[];
  /** Node labels may be selected (`enable-node-selector-labels`), with the same effect on remote nodes. */
  readonly perNodeLabels: boolean;
  /** 255 or 511: how many bits of a global number are the cluster ID. */
  readonly maxConnectedClusters: 255 | 511;
}

/** What an agent uses when nothing is configured. */
export const DEFAULT_IDENTITY_OPTIONS: IdentityOptions = {
  enableIPv4: true,
  enableIPv6: true,
  policyCidrMatchMode: [],
  perNodeLabels: false,
  maxConnectedClusters: 255,
};

/** Whether remote nodes are allocated one by one instead of being identity 6. */
export function selectsNodes(options: IdentityOptions): boolean {
  return options.perNodeLabels || options.policyCidrMatchMode.includes('nodes');
}
