/**
 * Text from outside (labels, names, paths, kernel strings) must not steer a terminal: control characters can move the
 * cursor or set the title, bidirectional and invisible characters can make one name look like another.
 */

// C0, DEL, C1, soft hyphen, Arabic letter mark, zero width, bidirectional marks and isolates, separators, BOM, lone surrogates, tags.
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
const MAYBE_UNSAFE = /[^\x20-\x7e]/;
// As JSON text: \n and other C0 characters are escaped by JSON.stringify already.
const MAYBE_UNSAFE_JSON = /[^\n\x20-\x7e]/;

/** Makes text safe to print: every control or invisible character becomes `\x1b` or `\u{202e}`; the rest stays. */
export function escapeText(text: string): string {
  if (!MAYBE_UNSAFE.test(text)) return text;
  return text.replace(UNSAFE, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** JSON text of a value that is safe to print; parses to the same value. */
export function safeJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!MAYBE_UNSAFE_JSON.test(json)) return json;
  return json.replace(UNSAFE, (char) => {
    let escaped = '';
    for (let i = 0; i < char.length; i++) escaped += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}
