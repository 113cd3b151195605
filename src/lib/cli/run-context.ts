import type { Config } from '@oclif/core/interfaces';
import type { ParsedConfig } from './config-file.ts';
import { Log } from './log.ts';
import type { Runtime } from './runtime.ts';

/** What belongs to one run of the program and is reached from every command of it. */
export interface RunContext {
  readonly runtime: Runtime;
  readonly log: Log;
  /** Config files that were read, by path: a run reads each of them once. */
  readonly configFiles: Map<string, ParsedConfig | undefined>;
}

export function createRunContext(runtime: Runtime): RunContext {
  return { runtime, log: new Log(runtime), configFiles: new Map() };
}

const contexts = new WeakMap<object, RunContext>();

/** Ties a context to oclif's config, the one object that every command is given. */
export function bindRunContext(config: Config, context: RunContext): void {
  contexts.set(config, context);
}

/** The context that was bound to the config. */
export function runContextOf(config: Config): RunContext {
  const context = contexts.get(config);
  if (context === undefined) throw new Error('no run context is bound to this config');
  return context;
}
