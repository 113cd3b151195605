/** A label as JSON, read and written as Go's encoding/json does for Cilium 1.21 (Label.UnmarshalJSON). */
import { MalformedError } from '../errors.ts';
import { foldFieldName, goString, goText } from './go-json.ts';
import { type Label, parseLabel } from './label.ts';

/** `{"key":…,"value":…,"source":…}`, without an empty value, escaped as Go does by default (also for HTML). */
export function marshalLabel(label: Label): string {
  const value = label.value === '' ? '' : `"value":${goString(label.value)},`;
  return `{"key":${goString(label.key)},${value}"source":${goString(label.source)}}`;
}

/**
 * Reads the object form or the short text form. Field names in any case, the last of two wins, others are passed over,
 * null counts as not given.
 * @throws {MalformedError} code BAD_LABEL; the message is the state, such as `it has no key`
 */
export function unmarshalLabel(json: string): Label {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw badLabel('it is not JSON');
  }
  if (typeof value === 'string') {
    if (value === '') throw badLabel('its text is empty');
    return parseLabel(goText(value));
  }
  if (value === null) throw badLabel('it has no key');
  if (typeof value !== 'object' || Array.isArray(value)) throw badLabel('it is neither an object nor a text');
  const label = { source: '', key: '', value: '' };
  for (const [name, text] of Object.entries(value)) {
    const field = fieldOf(name);
    if (field === undefined || text === null) continue;
    if (typeof text !== 'string') throw badLabel(`its ${field} is not a text`);
    label[field] = goText(text);
  }
  if (label.key === '') throw badLabel('it has no key');
  return label;
}

function fieldOf(name: string): 'source' | 'key' | 'value' | undefined {
  const folded = foldFieldName(name);
  return folded === 'source' || folded === 'key' || folded === 'value' ? folded : undefined;
}

function badLabel(state: string): MalformedError {
  return new MalformedError(`Cannot read label: ${state}`, { code: 'BAD_LABEL' });
}
