import { UsageError } from '../errors.ts';
import { LAYOUT_NAMES, type LayoutName } from './layout.ts';

/** Reads the value of --layout. @throws {UsageError} code BAD_LAYOUT; the hint lists the names. */
export function parseLayoutName(text: string): LayoutName {
  const name = LAYOUT_NAMES.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(`Cannot use layout ${JSON.stringify(text)}: there is none of that name`, {
    code: 'BAD_LAYOUT',
    hint: `layouts are ${LAYOUT_NAMES.join(', ')}; docs/layouts.md describes them`,
  });
}
