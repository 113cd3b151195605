import { describe, expect, it } from 'vitest';
import { Labels } from '../../../src/lib/identity/labels.ts';
import { numericIdentity } from '../../../src/lib/identity/numeric-identity.ts';
import { DEFAULT_IDENTITY_OPTIONS } from '../../../src/lib/identity/options.ts';
import { layoutNamed } from '../../../src/lib/ipcache/layout.ts';
import { formatPrefix } from '../../../src/lib/net/prefix.ts';
import type { SourceEntry } from '../../../src/lib/restore/kept-entries.ts';
import { KnownLabels } from '../../../src/lib/restore/known-labels.ts';
import { type PlanInput, planRestore, type TargetView } from '../../../src/lib/restore/plan.ts';

const WORLD = 'reserved:world-ipv4';

function known(records: Readonly<Record<number, readonly string[]>> = {}): KnownLabels {
  const list = Object.entries(records).map(([id, labels]) => ({
    id: numericIdentity(Number(id)),
    labels: Labels.parse(labels),
  }));
  return new KnownLabels(list, DEFAULT_IDENTITY_OPTIONS);
}

function plan(entries: Readonly<Record<string, number>>, input: Partial<PlanInput> = {}) {
  const kept = Object.entries(entries).map(([prefix, identity]): SourceEntry => {
    return { prefix, identity, class: identity === 8 ? 'ingress' : 'local' };
  });
  const source = { layout: layoutNamed('v2'), entries: kept.length, kept, skipped: new Map(), complete: true };
  return planRestore({ source, known: known(), target: 'same', ...input });
}

/** A map that has these numbers; `elsewhere` are numbers that it has at prefixes that the source does not have so. */
function target(has: Readonly<Record<string, number>>, elsewhere: Readonly<Record<number, number>> = {}): TargetView {
  return {
    identityOf: (prefix) => has[formatPrefix(prefix)],
    wouldLoseTunnel: (prefix) => formatPrefix(prefix).startsWith('10.'),
    numbers: new Map(Object.entries(elsewhere).map(([id, count]) => [Number(id), count])),
  };
}

describe('planRestore()', () => {
  it('keeps every number of the map itself, and says what is known of its labels', () => {
    const { entries } = plan(
      { '192.0.2.1/32': 16777220, '192.0.2.2/32': 16777220, '198.51.100.0/24': 16777221, '203.0.113.0/24': 16777222 },
      { known: known({ 16777222: ['fqdn:x', WORLD] }) },
    );
    expect(entries.map(({ action, kind }) => `${action} ${kind}`)).toEqual([
      'keep unknown',
      'keep unknown',
      'keep guessed',
      'keep known',
    ]);
  });

  it('withholds every number in sight: of the source, the target and the checkpoint', () => {
    const { withheld } = plan(
      { '192.0.2.1/32': 16777220 },
      { known: known({ 16777230: ['fqdn:x', WORLD] }), target: target({}, { 16777240: 1, 33554433: 0 }) },
    );
    expect([...withheld].sort()).toEqual([16777220, 16777230, 16777240, 33554433]);
  });

  it('never renumbers what is there, unless the checkpoint is preferred', () => {
    const labels = { 16777300: ['cidr:198.51.100.0/24', WORLD] };
    const input = { known: known(labels), target: target({ '198.51.100.0/24': 16777299 }) };
    const [conflict] = plan({ '198.51.100.0/24': 16777221 }, input).entries;
    expect(conflict).toMatchObject({ action: 'conflict', reason: 'renumbered', identity: 16777221, other: 16777299 });
    const [updated] = plan({ '198.51.100.0/24': 16777221 }, { ...input, preferCheckpoint: true }).entries;
    expect(updated).toMatchObject({ action: 'update', identity: 16777300, was: 16777299 });
  });

  it('gives no number a second meaning', () => {
    const reused = { action: 'conflict', reason: 'number-reused' };
    const source = { '198.51.100.0/24': 16777221 };
    // The target uses it for something else, and nobody knows what it means.
    expect(plan(source, { target: target({}, { 16777221: 1 }) }).entries[0]).toMatchObject(reused);
    expect(plan(source, { target: target({}, { 16777221: 0 }) }).entries[0]).toMatchObject({ action: 'add' });
    // The checkpoint says that it is of another network.
    const elsewhere = known({ 16777221: ['cidr:203.0.113.0/24', WORLD] });
    expect(plan(source, { target: 'new', known: elsewhere }).entries[0]).toMatchObject(reused);
    const wider = known({ 16777221: ['cidr:198.51.0.0/16', WORLD] });
    expect(plan(source, { target: 'new', known: wider }).entries[0]).toMatchObject({ action: 'add', kind: 'known' });
    // The snapshot knew it by other labels than the checkpoint does now; a split of the world label is no other meaning.
    const then = (...labels: string[]) => ({ target: 'new' as const, labelsInSource: () => Labels.parse(labels) });
    const now = known({ 16777221: ['fqdn:x', WORLD] });
    expect(plan(source, { ...then('fqdn:y', WORLD), known: now }).entries[0]).toMatchObject(reused);
    expect(plan(source, { ...then('fqdn:x', 'reserved:world'), known: now }).entries[0]).toMatchObject({
      action: 'add',
    });
  });

  it('adds nothing that would hide a tunnel', () => {
    const { entries } = plan(
      { '10.1.5.236/32': 16777221, '198.51.100.0/24': 16777222, '10.9.9.9/32': 8 },
      { target: target({}) },
    );
    expect(entries.map(({ action, reason }) => [action, reason])).toEqual([
      ['conflict', 'would-lose-tunnel'],
      ['add', undefined],
      ['conflict', 'would-lose-tunnel'],
    ]);
  });

  it('makes the same plan with and without lazy guesses', () => {
    const source = {
      '192.0.2.1/32': 16777220,
      '192.0.2.2/32': 16777220,
      '198.51.100.0/24': 16777221,
      '10.244.2.5/32': 8,
    };
    const bare = (lazyGuesses: boolean) =>
      plan(source, { lazyGuesses }).entries.map(({ labels: _, ...entry }) => entry);
    expect(bare(true)).toEqual(bare(false));
  });
});
