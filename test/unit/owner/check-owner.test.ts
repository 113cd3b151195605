import { describe, expect, it } from 'vitest';
import { checkOwner, type OwnerFlags, requireOwner } from '../../../src/lib/owner/check-owner.ts';
import { decideOwner } from '../../../src/lib/owner/decide-owner.ts';
import type { OwnerEvidence } from '../../../src/lib/owner/evidence.ts';
import { OPERATIONS, type Operation } from '../../../src/lib/owner/operations.ts';

const NOTHING: OwnerEvidence = { processes: [], programs: [], sockets: [], statePin: false, unseen: [] };
const SITUATIONS: Record<string, OwnerEvidence> = {
  'agent alive': { ...NOTHING, processes: [{ pid: 812, comm: 'cilium-agent', writes: true }] },
  'agent gone': { ...NOTHING, programs: [{ id: 3, name: 'cil_to_host' }] },
  unknown: { ...NOTHING, unseen: ['programs cannot be listed without CAP_SYS_ADMIN'] },
  'nobody, in use': { ...NOTHING, programs: [{ id: 3, name: 'mine' }] },
  ipc: { ...NOTHING, statePin: true },
};
const PIN = '/sys/fs/bpf/x';

const outcome = (operation: Operation, situation: string, flags?: OwnerFlags): string =>
  checkOwner(operation, PIN, decideOwner(SITUATIONS[situation] ?? NOTHING), flags)?.code ?? 'allowed';

/** Outcomes without flags, with --override-owner, with --programs-will-reload. */
const [A, U, M, ok] = ['OWNED_BY_AGENT', 'OWNER_UNKNOWN', 'MAP_IN_USE', 'allowed'];
const TABLE: Record<Operation, Record<string, readonly (string | undefined)[]>> = {
  set: {
    'agent alive': [A, ok, A],
    'agent gone': [A, ok, A],
    unknown: [U, ok, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  delete: {
    'agent alive': [A, ok, A],
    'agent gone': [A, ok, A],
    unknown: [U, ok, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  restore: {
    'agent alive': [A, ok, A],
    'agent gone': [A, ok, A],
    unknown: [U, ok, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  recreate: {
    'agent alive': [A, A, A],
    'agent gone': [A, A, A],
    unknown: [U, U, U],
    'nobody, in use': [M, M, ok],
    ipc: [ok, ok, ok],
  },
  release: {
    'agent alive': [A, A, A],
    'agent gone': [A, A, A],
    unknown: [U, U, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  gc: {
    'agent alive': [A, A, A],
    'agent gone': [A, A, A],
    unknown: [U, U, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  'gc-agent': {
    'agent alive': [ok, ok, ok],
    'agent gone': [ok, ok, ok],
    unknown: [ok, ok, ok],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  listen: {
    'agent alive': [A, A, A],
    'agent gone': [A, A, A],
    unknown: [U, U, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
  'hand-over': {
    'agent alive': [A, A, A],
    'agent gone': [ok, ok, ok],
    unknown: [U, U, U],
    'nobody, in use': [ok, ok, ok],
    ipc: [ok, ok, ok],
  },
};

describe('checkOwner()', () => {
  const rows = Object.entries(TABLE).flatMap(([operation, row]) =>
    Object.entries(row).map(([situation, expected]) => [operation, situation, expected] as const),
  );
  it.each(rows)('%s on a map of %s', (operation, situation, expected) => {
    const name = operation as Operation;
    expect([
      outcome(name, situation),
      outcome(name, situation, { overrideOwner: true }),
      outcome(name, situation, { programsWillReload: true }),
    ]).toEqual(expected);
  });

  it('names pid and reason, and for every operation what to run instead', () => {
    for (const operation of Object.keys(OPERATIONS) as Operation[]) {
      const refusal = checkOwner(operation, PIN, decideOwner(SITUATIONS['agent alive'] ?? NOTHING));
      if (refusal === undefined) continue;
      expect(refusal).toMatchObject({ exitCode: 13, operands: { pid: 812, owner: 'agent' } });
      expect(refusal.message).toMatch(
        /^Cannot .* \/sys\/fs\/bpf\/x: it belongs to an agent: process 812 \(cilium-agent\) holds/,
      );
      expect(refusal.hint?.length).toBeGreaterThan(20);
    }
  });

  it('counts users of a map that is to be replaced, readers too', () => {
    const evidence = { ...NOTHING, processes: [{ pid: 5, comm: 'bpftool', writes: false }] };
    expect(checkOwner('recreate', PIN, decideOwner(evidence))?.message).toBe(
      `Cannot recreate ${PIN}: it is in use, and its users would keep the old map: process 5 (bpftool)`,
    );
  });
});

describe('requireOwner()', () => {
  it('throws what checkOwner() returns', () => {
    expect(() => requireOwner('listen', PIN, decideOwner(SITUATIONS.unknown ?? NOTHING))).toThrow(
      'cannot be seen from here',
    );
    expect(() => requireOwner('listen', PIN, decideOwner(NOTHING))).not.toThrow();
  });
});
