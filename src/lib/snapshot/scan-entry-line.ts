/**
 * Reads an entry line exactly as `ipc` writes it, byte by byte. It knows one spelling only; whatever differs in the least
 * (spaces, another order, warnings, damage) is left to the JSON parser and the published schema, which also find the
 * words for what is wrong.
 */
import { scopeOf } from '../identity/numeric-identity.ts';
import { scanIPv4, scanIPv6 } from '../net/scan-address.ts';
import { ADDRESS_AT, type EntryRow, RANK } from './entry-row.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

const QUOTE = 34;
const COMMA = 44;
const SLASH = 47;
const AT = 64;
const CLOSING = 93;

const PREFIX = ascii('{"prefix":"');
const CLUSTER_ID = ascii('"clusterId":');
const FAMILY = { 1: ascii('"family":"ipv4","identity":'), 2: ascii('"family":"ipv6","identity":') } as const;
const SCOPES = {
  reserved: ascii(',"scope":"reserved",'),
  global: ascii(',"scope":"global",'),
  local: ascii(',"scope":"local",'),
  'remote-node': ascii(',"scope":"remote-node",'),
  unknown: ascii(',"scope":"unknown",'),
} as const;
const TUNNEL = ascii('"tunnelEndpoint":"');
const ENCRYPT_KEY = ascii('"encryptKey":');
const FLAGS = ascii(',"flags":[');
const END = ascii(']}');
const FLAG_WORDS = [
  [ascii('"skiptunnel"'), 1],
  [ascii('"hastunnel"'), 2],
  [ascii('"ipv6tunnel"'), 4],
  [ascii('"remotecluster"'), 8],
] as const;

/** A position in the line, and the last number read. */
const cursor = { at: 0, value: 0 };

/**
 * Fills the row from the line in `text[from, to)`, without its newline.
 * @returns false when the line is not spelled the one way; the row is then of no use
 */
export function scanEntryLine(text: Uint8Array, from: number, to: number, row: EntryRow): boolean {
  cursor.at = from;
  return scanPrefix(text, row) && scanIdentity(text, row) && scanRest(text, row) && cursor.at === to;
}

function scanPrefix(text: Uint8Array, row: EntryRow): boolean {
  if (!skip(text, PREFIX)) return false;
  const key = row.sortKey;
  let rank: 1 | 2 = RANK.ipv4;
  key.fill(0);
  let end = scanIPv4(text, cursor.at, key, ADDRESS_AT);
  if (end < 0) {
    rank = RANK.ipv6;
    end = scanIPv6(text, cursor.at, key, ADDRESS_AT);
    if (end < 0) return false;
  }
  if (text[end] !== SLASH) return false;
  cursor.at = end + 1;
  if (!number(text, rank === RANK.ipv4 ? 32 : 128)) return false;
  const length = cursor.value;
  if (!isMasked(key, length, rank === RANK.ipv4 ? 4 : 16)) return false;
  let clusterId = 0;
  if (text[cursor.at] === AT) {
    cursor.at++;
    if (!number(text, 0xffff) || cursor.value === 0) return false;
    clusterId = cursor.value;
  }
  if (text[cursor.at] !== QUOTE || text[cursor.at + 1] !== COMMA) return false;
  cursor.at += 2;
  if (clusterId !== 0) {
    if (!skip(text, CLUSTER_ID) || !number(text, 0xffff) || cursor.value !== clusterId) return false;
    if (text[cursor.at++] !== COMMA) return false;
  }
  key[0] = rank;
  key[1] = clusterId >> 8;
  key[2] = clusterId & 0xff;
  key[19] = length;
  row.rawKey = '';
  return skip(text, FAMILY[rank]);
}

function scanIdentity(text: Uint8Array, row: EntryRow): boolean {
  if (!number(text, 0xffffffff)) return false;
  row.identity = cursor.value;
  return skip(text, SCOPES[scopeOf(cursor.value)]);
}

function scanRest(text: Uint8Array, row: EntryRow): boolean {
  row.tunnelBytes = 0;
  if (skip(text, TUNNEL)) {
    let end = scanIPv4(text, cursor.at, row.tunnel, 0);
    row.tunnelBytes = 4;
    if (end < 0) {
      end = scanIPv6(text, cursor.at, row.tunnel, 0);
      row.tunnelBytes = 16;
    }
    if (end < 0 || text[end] !== QUOTE || text[end + 1] !== COMMA) return false;
    cursor.at = end + 2;
  }
  if (!skip(text, ENCRYPT_KEY) || !number(text, 0xff)) return false;
  row.encryptKey = cursor.value;
  if (!skip(text, FLAGS)) return false;
  row.flags = 0;
  row.extra = '';
  for (const [word, bit] of FLAG_WORDS) {
    if (!skip(text, word)) continue;
    row.flags |= bit;
    if (text[cursor.at] === COMMA) cursor.at++;
    else break;
  }
  // A list that ends in a comma, or goes on with other words, does not end here.
  return text[cursor.at - 1] !== COMMA && text[cursor.at] === CLOSING && skip(text, END);
}

function skip(text: Uint8Array, word: Uint8Array): boolean {
  const at = cursor.at;
  for (let i = 0; i < word.length; i++) if (text[at + i] !== word[i]) return false;
  cursor.at = at + word.length;
  return true;
}

/** Decimal digits without leading zeros, at most `max`. */
function number(text: Uint8Array, max: number): boolean {
  const start = cursor.at;
  let at = start;
  let value = 0;
  for (;;) {
    const digit = (text[at] ?? 0) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    if (value > max) return false;
    at++;
  }
  if (at === start || (text[start] === 48 && at > start + 1)) return false;
  cursor.at = at;
  cursor.value = value;
  return true;
}

function isMasked(key: Uint8Array, length: number, bytes: number): boolean {
  const whole = length >> 3;
  const rest = length & 7;
  if (rest !== 0 && ((key[ADDRESS_AT + whole] ?? 0) & (0xff >> rest)) !== 0) return false;
  for (let i = rest === 0 ? whole : whole + 1; i < bytes; i++) if (key[ADDRESS_AT + i] !== 0) return false;
  return true;
}
