/** Bytes from hexadecimal digits; spaces are for reading. */
export function hex(text: string): Uint8Array {
  const digits = text.replace(/\s/g, '');
  if (!/^([0-9a-f]{2})*$/.test(digits)) throw new Error(`not hexadecimal: ${text}`);
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

/** `hex` filled with zeros up to a size. */
export function hexTo(bytes: number, text: string): Uint8Array {
  const out = new Uint8Array(bytes);
  out.set(hex(text));
  return out;
}
