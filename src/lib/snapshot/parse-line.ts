/** One line of JSON as a value. */

/** @returns undefined when the bytes are not JSON */
export function parseLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
  } catch {
    return undefined;
  }
}

/** @returns the object of the line; undefined when it is none */
export function parseObject(line: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const value = parseLine(line);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
