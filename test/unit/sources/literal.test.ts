import { describe, expect, it } from 'vitest';
import { Literal } from '../../../src/lib/sources/literal.ts';

function viewOf(text: string): DataView {
  const bytes = new TextEncoder().encode(`xx${text}`);
  return new DataView(bytes.buffer, 2);
}

describe('Literal', () => {
  it.each(['', '}', '}\n', ',"a', ',"a"', ',"id":', '","host":', '{"op":"upsert","prefix":"'])(
    'isAt() finds %j, and nothing that differs in a byte',
    (text) => {
      const literal = new Literal(Buffer.from(text));
      expect(literal.length).toBe(text.length);
      for (let at = 0; at < 4; at++) expect(literal.isAt(viewOf(`${'-'.repeat(at)}${text}`), at)).toBe(true);
      for (let i = 0; i < text.length; i++) {
        expect(literal.isAt(viewOf(`${text.slice(0, i)}~${text.slice(i + 1)}more`), 0)).toBe(false);
        expect(literal.isAt(viewOf(text.slice(0, i)), 0)).toBe(false);
      }
    },
  );
});
