/** What the agent loop tells whoever runs it: for logs and metrics. Changes of entries are not among it. */
import type { ToolError } from '../errors.ts';

/** In the order in which a run goes through them. */
export const PHASES = ['lock', 'restore', 'open', 'replay', 'run', 'drain', 'stopped'] as const;
export type Phase = (typeof PHASES)[number];

/** `ended`: a stream that has been read to its end; what it said stays. */
export type SourceCondition = 'starting' | 'synced' | 'lost' | 'ended';

/** Why an event was not used. */
export const REJECTIONS = [
  'malformed',
  'family',
  'cluster',
  'global-labels',
  'unknown-key',
  'not-owner',
  'layout',
  'zero-identity',
] as const;
export type Rejection = (typeof REJECTIONS)[number];

export type LoopEvent =
  | { readonly kind: 'phase'; readonly phase: Phase }
  | { readonly kind: 'source'; readonly source: string; readonly condition: SourceCondition; readonly reason?: string }
  | { readonly kind: 'synced' }
  | { readonly kind: 'bad-line'; readonly source: string; readonly error: ToolError }
  | { readonly kind: 'client-refused'; readonly source: string; readonly reason: string }
  | { readonly kind: 'rejected'; readonly source: string; readonly reason: Rejection; readonly subject: string }
  | { readonly kind: 'flapping'; readonly prefix: string; readonly identities: readonly number[] }
  | { readonly kind: 'foreign'; readonly prefix: string; readonly expected: string; readonly found: string }
  | { readonly kind: 'reassert-stopped'; readonly prefix: string }
  | { readonly kind: 'pin'; readonly pin: string; readonly isThere: boolean }
  | { readonly kind: 'map-replaced'; readonly mapId: number }
  | { readonly kind: 'write-problem'; readonly problem: string; readonly message: string; readonly prefix?: string }
  | { readonly kind: 'cache-problem'; readonly message: string }
  | { readonly kind: 'checkpoint'; readonly identities: number; readonly ms: number }
  | { readonly kind: 'checkpoint-failed'; readonly error: ToolError }
  | { readonly kind: 'released'; readonly prefixes: number; readonly identities: number }
  | { readonly kind: 'unclean-start'; readonly time: string }
  | { readonly kind: 'restored'; readonly identities: number; readonly prefixes: number }
  | { readonly kind: 'gc'; readonly deleted: number; readonly kept: number; readonly message: string }
  | { readonly kind: 'gc-failed'; readonly error: ToolError };

export type TellLoop = (event: LoopEvent) => void;
