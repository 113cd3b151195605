/** Reads one topic of the golden cases; IPC_GOLDEN_DIR points at another folder of the same shapes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface GoldenCase<Input = Record<string, unknown>, Expect = Record<string, unknown>> {
  readonly name: string;
  readonly input: Input;
  readonly expect: Expect;
}

export interface GoldenTopic<Input = Record<string, unknown>, Expect = Record<string, unknown>> {
  readonly topic: string;
  readonly cilium: string;
  readonly cases: readonly GoldenCase<Input, Expect>[];
}

/** @param file a topic's file name without `.json`, for example `01-ipcache-key`. */
export function loadTopic<Input = Record<string, unknown>, Expect = Record<string, unknown>>(
  file: string,
): GoldenTopic<Input, Expect> {
  const directory = process.env.IPC_GOLDEN_DIR ?? join(import.meta.dirname, 'cases');
  const loaded: GoldenTopic<Input, Expect> = JSON.parse(readFileSync(join(directory, `${file}.json`), 'utf8'));
  if (loaded.cases.length === 0) throw new Error(`${file}.json has no cases`);
  return loaded;
}
