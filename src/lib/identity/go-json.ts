/** Where JSON of Go's encoding/json (1.26) is not what JavaScript reads and writes. */

/** Half a surrogate pair becomes U+FFFD. */
export function goText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** A text with its quotes, escaped also for HTML. */
export function goString(text: string): string {
  return JSON.stringify(goText(text)).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The form in which field names are compared: by Unicode's rules, in which Kelvin and long s are k and s. */
export function foldFieldName(name: string): string {
  return name.toLowerCase().replaceAll('\u017f', 's');
}
