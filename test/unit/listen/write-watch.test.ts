import { describe, expect, it } from 'vitest';
import type { IpcacheEvent } from '../../../src/lib/cache/listener.ts';
import type { EventMaker } from '../../../src/lib/datapath/bpf-listener.ts';
import { WriteWatch } from '../../../src/lib/listen/write-watch.ts';
import { HandClock } from '../../support/hand-clock.ts';

const BYTES = new Uint8Array(24);

function event(n: number): IpcacheEvent {
  const entry = { identity: n, source: 'api', hostIP: undefined, encryptKey: 0, endpointFlags: 0, pod: undefined };
  return { kind: 'upsert', prefix: `10.0.0.${n}/32`, entry, old: undefined };
}

function change(n: number): EventMaker {
  const made = event(n);
  return { event: () => made };
}

function newWatch(onOutcome?: (event: IpcacheEvent, isApplied: boolean) => void) {
  const clock = new HandClock();
  const passed: (IpcacheEvent | undefined)[] = [];
  const latencies: number[] = [];
  const watch = new WriteWatch({
    writer: () => ({
      upsert: (_key, _value, seen) => passed.push(seen?.event()),
      remove: (_key, _identity, seen) => passed.push(seen?.event()),
    }),
    monotonic: clock.monotonic,
    onLatency: (seconds) => latencies.push(seconds),
    onOutcome,
  });
  return { clock, passed, latencies, watch };
}

describe('WriteWatch', () => {
  it('times every change while one at a time is under way', () => {
    const { clock, passed, latencies, watch } = newWatch();
    for (let n = 1; n <= 3; n++) {
      watch.upsert(BYTES, BYTES, change(n));
      clock.pass(n);
      const [seen] = passed.splice(0);
      if (seen !== undefined) watch.outcome(seen, true);
    }
    watch.remove(BYTES, 7, change(4));
    clock.pass(4);
    watch.outcome(passed[0] as IpcacheEvent, true);
    expect(latencies).toEqual([0.001, 0.002, 0.003, 0.004]);
  });

  it('times one in 64 of a crowd, and no more than 64 at once', () => {
    const { passed, watch } = newWatch();
    for (let n = 0; n < 6400; n++) watch.upsert(BYTES, BYTES, change(n));
    const timed = passed.flatMap((seen, i) => (seen === undefined ? [] : [i]));
    expect(timed.slice(0, 3)).toEqual([0, 64, 128]);
    expect(timed).toHaveLength(64);
  });

  it('does not count a failed write as a latency; a later success does not either', () => {
    const { clock, passed, latencies, watch } = newWatch();
    watch.upsert(BYTES, BYTES, change(1));
    clock.pass(5);
    watch.outcome(passed[0] as IpcacheEvent, false);
    watch.outcome(passed[0] as IpcacheEvent, true);
    expect(latencies).toEqual([]);
  });

  it('passes every event on where a monitor follows, with its outcome', () => {
    const heard: string[] = [];
    const { passed, watch } = newWatch(({ prefix }, isApplied) => heard.push(`${prefix} ${isApplied}`));
    const events = [1, 2, 3].map(event);
    for (const one of events) watch.upsert(BYTES, BYTES, { event: () => one });
    expect(passed).toEqual(events);
    for (const [i, one] of events.entries()) watch.outcome(one, i !== 1);
    expect(heard).toEqual(['10.0.0.1/32 true', '10.0.0.2/32 false', '10.0.0.3/32 true']);
  });
});
