/** The texts of plain events that repeat, each looked at once. */
import { isSourceName } from '../cache/source-rank.ts';
import { ByteTexts } from './byte-texts.ts';
import { canonicalHost } from './host-pool.ts';
import { pooledText } from './text-pool.ts';

export class PlainTexts {
  /** Canonical hosts; undefined for what is no address. */
  readonly hosts = new ByteTexts(canonicalHost);
  readonly namespaces = new ByteTexts(pooledText);
  /** Names of Cilium sources; undefined for what is none. */
  readonly sources = new ByteTexts((text) => (isSourceName(text) ? text : undefined));
}
