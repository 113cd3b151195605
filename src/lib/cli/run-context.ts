import type { Config } from '@oclif/core/interfaces';
import { Log } from './log.ts';
import { processRuntime, type Runtime } from './runtime.ts';

/** What belongs to one run of the program and is reached from every command of it. */
export interface RunContext {
  readonly runtime: Runtime;
  readonly log: Log;
}

const contexts = new WeakMap<object, RunContext>();

/** Ties a context to oclif's config, the one object that every command is given. */
export function bindRunContext(config: Config, context: RunContext): void {
  contexts.set(config, context);
}

/** The context of the run; that of the real process where none was bound. */
export function runContextOf(config: Config): RunContext {
  const bound = contexts.get(config);
  if (bound !== undefined) return bound;
  const runtime = processRuntime();
  const context = { runtime, log: new Log(runtime) };
  contexts.set(config, context);
  return context;
}
