import { describe, expect, it } from 'vitest';
import { type Why, type WhyHistory, whyJson, whyLines } from '../../../src/lib/output/why-view.ts';

const at = (hour: number): string => `2026-01-02T0${hour}:00:00.000Z`;
const VALUE = { identity: 7, encryptKey: 0, flags: [] };
const listen = (since: string, sinceStart?: boolean) => ({ socket: '/s', identity: 5, since, sinceStart });
const history = (more: Partial<WhyHistory>): WhyHistory => ({
  directory: '/d',
  snapshots: 3,
  skipped: 0,
  newest: at(9),
  ...more,
});

function told(why: Omit<Why, 'prefix'>) {
  const { lastChange, before, unknown } = whyJson({ prefix: '10.0.0.1/32', ...why });
  return { lastChange, before, unknown };
}

describe('whyJson() tells the last change', () => {
  it('as the agent saw it, before all others', () => {
    const event = { time: at(3), action: 'update', value: VALUE };
    expect(told({ agent: { socket: '/a', events: [event] }, listen: listen(at(5)) }).lastChange).toEqual({
      from: 'agent',
      time: at(3),
      action: 'update',
    });
  });

  it('as a listen did it, even where snapshots have an older one', () => {
    expect(told({ listen: listen(at(5)) })).toEqual({ lastChange: { from: 'listen', time: at(5) } });
    const older = history({ after: at(1), by: at(2), before: VALUE });
    expect(told({ listen: listen(at(5)), history: older })).toEqual({ lastChange: { from: 'listen', time: at(5) } });
    const same = history({ after: at(1), before: VALUE });
    expect(told({ listen: listen(at(5)), history: same })).toMatchObject({
      lastChange: { time: at(5) },
      before: VALUE,
    });
  });

  it('from snapshots, where listen was only told at its start what they had already', () => {
    const older = history({ after: at(1), by: at(2), before: VALUE });
    expect(told({ listen: listen(at(5), true), history: older })).toEqual({
      lastChange: { from: 'history', after: at(1), by: at(2) },
      before: VALUE,
    });
    expect(told({ listen: listen(at(5), true) })).toEqual({
      lastChange: { from: 'listen', time: at(5), atStart: true },
    });
  });

  it('is unknown when nobody knows', () => {
    expect(told({ listen: { socket: '/s', identity: null } })).toEqual({ unknown: 'the map keeps no times' });
    expect([...whyLines({ prefix: '10.0.0.1/32' })].at(-1)).toContain('last change unknown');
  });

  it('in a line for people', () => {
    expect([...whyLines({ prefix: '10.0.0.1/32', listen: listen(at(5)) })]).toContain(`  listen: so since ${at(5)}`);
    expect([...whyLines({ prefix: '10.0.0.1/32', listen: listen(at(5), true) })].at(-1)).toContain('perhaps before');
  });
});
