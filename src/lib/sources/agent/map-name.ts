/** The names under which the agent's API knows the ipcache map: since Cilium 1.18, and before. */
export const AGENT_MAP_NAMES: readonly string[] = ['cilium_ipcache_v2', 'cilium_ipcache'];

/** The names to ask for, best first. @param pin of the map that is looked at */
export function agentMapNames(pin?: string): readonly string[] {
  const name = pin?.slice(pin.lastIndexOf('/') + 1);
  return name !== undefined && AGENT_MAP_NAMES.includes(name) ? [name] : AGENT_MAP_NAMES;
}
