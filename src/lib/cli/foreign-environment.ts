/** The variables of other programs that are read, and the only ones. */
export type ForeignVariable = 'CILIUM_SOCK' | 'TC_BPF_MNT' | 'KUBECONFIG' | 'NO_COLOR';

/** @returns undefined when the variable is unset or empty */
export function foreignVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: ForeignVariable,
): string | undefined {
  return env[name] || undefined;
}
