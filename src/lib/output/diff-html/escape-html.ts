import { escapeText } from '../escape.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an HTML document: neither markup nor anything invisible. */
export function escapeHtml(text: string): string {
  return escapeText(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
