/** Who outranks whom when several sources speak about one prefix (Cilium 1.21, pkg/source). */

/** Strongest first. */
export const SOURCES = [
  'kube-apiserver',
  'local',
  'kvstore',
  'custom-resource',
  'k8s',
  'clustermesh',
  'directory',
  'api',
  'generated',
  'restored',
  'unspec',
] as const;

export type SourceName = (typeof SOURCES)[number];

const RANKS: ReadonlyMap<string, number> = new Map(SOURCES.map((name, rank) => [name, rank]));

/** 0 is the strongest. Names that are not in the list, case included, all rank behind `unspec`. */
export function sourceRank(source: string): number {
  return RANKS.get(source) ?? SOURCES.length;
}

export function isSourceName(text: string): text is SourceName {
  return RANKS.has(text);
}

/** Whether state of `existing` may be replaced by state of `next`: yes when `next` is at least as strong. */
export function allowOverwrite(existing: string, next: string): boolean {
  return sourceRank(next) <= sourceRank(existing);
}
