/** The end of a run: what has been said is taken in and written, as far as the time allows, and the rest is remembered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoopParts } from './loop-parts.ts';
import type { LoopSetup } from './loop-setup.ts';

/** What was sent just before the end is still on its way: sources are listened to until they have been quiet for so long. */
const QUIET_MS = 30;
const LONGEST_LISTENING_MS = 500;

/** @throws {ToolError} the last checkpoint could not be written */
export async function drainLoop(parts: LoopParts, setup: LoopSetup): Promise<void> {
  const { cache, follower, keeper, sources, releaser, auditor, collector } = parts;
  const { clock, stopTimeoutMs } = setup;
  const deadline = clock.monotonic() + stopTimeoutMs;
  const left = (): number => Math.max(0, deadline - clock.monotonic());
  releaser.stop();
  await Promise.all([auditor.stop(), collector.stop()]);
  await untilQuiet(parts, clock.monotonic() + Math.min(LONGEST_LISTENING_MS, stopTimeoutMs), clock.monotonic);
  await sources.stop();
  await atMost(left(), cache.queueLength === 0 ? undefined : cache.waitForRevision(cache.upsertMetadata([])));
  cache.stop();
  await atMost(
    left(),
    follower.writer.flush().catch(() => {}),
  );
  while (follower.writer.pending > 0 && left() > 0 && !follower.hasFailed) {
    follower.writer.poke();
    await follower.writer.flush().catch(() => {});
    if (follower.writer.pending > 0) await sleep(Math.min(left(), 200));
  }
  try {
    await keeper.finish();
  } finally {
    await follower.stop();
  }
}

async function untilQuiet({ sources }: LoopParts, end: number, monotonic: () => number): Promise<void> {
  for (let events = -1; events !== sources.events && monotonic() < end; ) {
    events = sources.events;
    await sleep(QUIET_MS);
  }
}

async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work === undefined) return;
  const over = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}
