/** The report of `ipc doctor`: findings, then the maps of the node. */
import { SEVERITIES } from '../check/finding.ts';
import type { DoctorMap } from '../doctor/collect-maps.ts';
import type { Examination } from '../doctor/examine-node.ts';
import { countBySeverity, findingJson, findingText, severityWords } from './finding-view.ts';
import { renderTable } from './table.ts';
import type { Column, JsonObject, ReportView } from './view.ts';

const COLUMNS: readonly Column<DoctorMap>[] = [
  { title: 'ID', align: 'right', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'PIN', value: ({ pins }) => pins.join(' ') || '-' },
  { title: 'LAYOUT', value: ({ layout }) => layout ?? '?' },
  { title: 'ENTRIES', align: 'right', value: ({ entries }) => entries ?? '?' },
  { title: 'MAX', align: 'right', value: ({ maxEntries }) => maxEntries },
  { title: 'PROGRAMS', align: 'right', value: ({ programs }) => programs?.length ?? '?' },
  { title: 'WRITERS', value: ({ processes }) => writers(processes).join(' ') || '-' },
];

export const doctorView: ReportView<Examination> = {
  kind: 'doctor',
  json({ target, node, findings, complete }) {
    const { high, medium, low, info } = countBySeverity(findings);
    return {
      map: target && {
        id: target.id,
        pin: target.pin,
        layout: target.layout,
        owner: target.owner,
        programs: target.programs ?? null,
      },
      complete,
      summary: { high, medium, low, info },
      items: findings.map(findingJson),
      maps: node.maps.map(mapJson),
    };
  },
  *text({ node, findings, complete }, paint) {
    for (const severity of SEVERITIES) {
      for (const finding of findings) if (finding.severity === severity) yield* findingText(finding, paint);
    }
    if (node.maps.length > 0) {
      yield '';
      yield* renderTable(COLUMNS, node.maps, paint);
    }
    yield '';
    yield `found: ${severityWords(findings)}${complete ? '' : '; not everything could be seen'}`;
  },
};

function mapJson({
  id,
  name,
  pins,
  layout,
  entries,
  maxEntries,
  flags,
  frozen,
  programs,
  processes,
}: DoctorMap): JsonObject {
  return {
    id,
    name,
    pins,
    layout,
    entries: entries ?? null,
    maxEntries,
    flags,
    frozen: frozen ? true : undefined,
    programs: programs?.length ?? null,
    processes: processes.map(({ pid, comm, writes }) => ({ pid, comm, writes })),
  };
}

function writers(processes: DoctorMap['processes']): string[] {
  return processes.filter(({ writes }) => writes).map(({ pid, comm }) => `${pid}(${comm})`);
}
