import type { IpcacheEntry } from '../ipcache/entry.ts';
import { identityWords } from './identity-words.ts';

/** What an entry is, in few words: `10.0.0.0/8 world`. */
export function entryWords({ prefix, identity }: Pick<IpcacheEntry, 'prefix' | 'identity'>): string {
  const words = identityWords(identity);
  return words === 'global' || words.startsWith('unknown') ? `${prefix} ${identity}` : `${prefix} ${words}`;
}
