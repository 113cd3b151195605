/** What is wrong with the maps of a node, from what was collected about them. */
import type { Finding } from '../check/finding.ts';
import type { DoctorMap, NodeMaps } from './collect-maps.ts';

/** Findings about maps and pins; the first one says what there is. */
export function checkMaps({ maps, leftovers, unseen }: NodeMaps): Finding[] {
  return [
    summary(maps, unseen),
    ...maps.flatMap(checkMap),
    ...checkUse(maps),
    ...leftovers.map(
      (path): Finding => ({
        check: 'leftover',
        severity: 'medium',
        message: `${path} is left over from a replacement that was not finished`,
        hint: `when nothing is replacing the map now: rm ${path}`,
      }),
    ),
  ];
}

function summary(maps: readonly DoctorMap[], unseen: readonly string[]): Finding {
  const [first] = maps;
  const rest = unseen.length > 0 ? { evidence: unseen } : {};
  if (first !== undefined) {
    return { check: 'maps', severity: 'info', message: count(maps.length, 'ipcache map'), ...rest };
  }
  return {
    check: 'maps',
    severity: unseen.length > 0 ? 'medium' : 'high',
    message: unseen.length > 0 ? 'no ipcache map could be seen' : 'there is no ipcache map',
    hint: 'is the agent running? An agent of your own makes one with ipc listen',
    ...rest,
  };
}

function checkMap(map: DoctorMap): Finding[] {
  const findings: Finding[] = [];
  if (map.frozen) {
    findings.push({
      check: 'map-frozen',
      severity: 'high',
      message: `map id ${map.id} is frozen: nothing can change it any more`,
      hint: 'restart the agent, so that it makes a new map',
    });
  }
  if (map.problem !== undefined) {
    findings.push({ check: 'map-unread', severity: 'medium', message: `map id ${map.id}: ${map.problem}` });
  }
  if (map.entries === 0 && (map.programs?.length ?? 0) > 0) {
    findings.push({
      check: 'map-empty',
      severity: 'medium',
      message: `map id ${map.id}, in use by ${count(map.programs?.length ?? 0, 'program')}, is empty: no address has an identity`,
      hint: 'ipc restore fills it again from a snapshot or an outgoing map',
    });
  }
  return findings;
}

/** Which map the datapath reads, and which one is written. */
function checkUse(maps: readonly DoctorMap[]): Finding[] {
  const used = maps.filter(({ programs }) => programs !== undefined && programs.length > 0);
  const findings: Finding[] = [];
  for (const map of maps) {
    if (map.programs?.length !== 0 || map.pins.length === 0) continue;
    const [live] = used;
    if (live !== undefined) findings.push(unusedPin(map, used, live));
  }
  if (used.length > 1) findings.push(splitPrograms(used));
  return findings;
}

/**
 * A pinned map that no program uses while programs use another one. Where that other one has a pin too and nothing
 * writes this one, it is the pin of another Cilium version, which nothing removes; else what is written is not read.
 */
function unusedPin(map: DoctorMap, used: readonly DoctorMap[], live: DoctorMap): Finding {
  const evidence = [describeMap(map), ...used.map(describeMap)];
  const pin = map.pins[0] ?? '';
  const written = map.processes.some(({ writes }) => writes);
  if (!written && used.some(({ pins }) => pins.length > 0)) {
    return {
      check: 'pin-stale',
      severity: 'low',
      message: `${pin} (map id ${map.id}) is pinned and used by nothing`,
      hint: 'an upgrade or downgrade of Cilium leaves it; it goes with the next reboot',
      evidence,
    };
  }
  return {
    check: 'map-unused',
    severity: 'high',
    message:
      `the datapath does not read ${pin}: no program uses map id ${map.id} (${entries(map)}); ` +
      `in use is id ${live.id} (${entries(live)}), by ${count(live.programs?.length ?? 0, 'program')}`,
    hint: `--map id:${live.id} reads what the datapath sees; the programs must be loaded again to use the pinned map`,
    evidence,
  };
}

function splitPrograms(used: readonly DoctorMap[]): Finding {
  // Ids grow: the newest map is the one that programs are moving to.
  const newest = used.reduce((a, b) => (b.id > a.id ? b : a));
  const moved = new Set(newest.programs?.map(({ id }) => id));
  const all = new Set(used.flatMap(({ programs }) => programs?.map(({ id }) => id) ?? []));
  return {
    check: 'programs-split',
    severity: 'medium',
    message: `programs use ${used.length} ipcache maps: ${moved.size} of ${all.size} programs moved to map id ${newest.id}`,
    hint: 'normal for a short time while an agent loads its programs again; ipc doctor --wait 5m waits for the end',
    evidence: used.map(describeMap),
  };
}

/** One line on a map for people. */
function describeMap(map: DoctorMap): string {
  const programs = map.programs === undefined ? 'programs unknown' : count(map.programs.length, 'program');
  const writers = map.processes.filter(({ writes }) => writes).map(({ pid, comm }) => `${pid} (${comm})`);
  return [
    `id ${map.id} ${map.name === '' ? '(no name)' : map.name}`,
    map.pins.length === 0 ? 'no pin' : map.pins.join(', '),
    `${entries(map)} of ${map.maxEntries}`,
    `layout ${map.layout ?? 'unknown'}`,
    `flags 0x${map.flags.toString(16)}`,
    programs,
    ...(writers.length > 0 ? [`written by ${writers.join(', ')}`] : []),
  ].join(', ');
}

function entries(map: DoctorMap): string {
  return map.entries === undefined ? 'entries unknown' : map.entries === 1 ? '1 entry' : `${map.entries} entries`;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
