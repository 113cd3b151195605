/** Every format a result can be printed in; which of them a command has is declared by the command. */
export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv', 'cilium', 'bpftool'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
