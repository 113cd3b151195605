/** What goes wrong inside the cache and does not stop it; callers log and count it. */
import type { ToolError } from '../errors.ts';
import type { Labels } from '../identity/labels.ts';
import type { Conflict } from './flatten.ts';

export type CacheProblem =
  /** Two resources disagree about a prefix. Told once, until the disagreement ends. */
  | { readonly kind: 'conflict'; readonly prefix: string; readonly conflict: Conflict }
  /** The prefix stays queued and is tried again. */
  | { readonly kind: 'allocation-failed'; readonly prefix: string; readonly labels: Labels; readonly error: ToolError }
  /** A number that the allocator does not own cannot be released. */
  | { readonly kind: 'release-failed'; readonly identity: number }
  | { readonly kind: 'unknown-key'; readonly key: string };
