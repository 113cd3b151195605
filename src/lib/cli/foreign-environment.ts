/** The variables of other programs that are read, and the only ones. The service manager sets the last two. */
export type ForeignVariable =
  | 'CILIUM_SOCK'
  | 'TC_BPF_MNT'
  | 'KUBECONFIG'
  | 'NO_COLOR'
  | 'NOTIFY_SOCKET'
  | 'WATCHDOG_USEC';

/** @returns undefined when the variable is unset or empty */
export function foreignVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: ForeignVariable,
): string | undefined {
  return env[name] || undefined;
}
