/** What an errno means in one place: class of error, stable code, sentence, next step. */
import {
  type ErrorOperands,
  FailedError,
  KernelFeatureError,
  NoEntryError,
  NotFoundError,
  NotPermittedError,
  type ToolError,
} from '../errors.ts';

export interface Explanation {
  readonly kind: keyof typeof CLASSES;
  readonly code: string;
  /** The state, to follow *Cannot <action>:*. */
  readonly state: string;
  readonly hint?: string | undefined;
}

/** One or several error numbers and what they mean. */
export type Row = readonly [errno: number | readonly number[], explanation: Explanation];

const CLASSES = {
  failed: FailedError,
  notFound: NotFoundError,
  noEntry: NoEntryError,
  notPermitted: NotPermittedError,
  kernelFeature: KernelFeatureError,
} as const;

/** An error of the class that the explanation names. */
export function makeError(message: string, explanation: Explanation, operands: ErrorOperands): ToolError {
  const { kind, code, hint } = explanation;
  return new CLASSES[kind](message, { code, ...(hint === undefined ? {} : { hint }), operands });
}
