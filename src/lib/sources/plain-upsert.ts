/** An upsert as it was read from a plain line, in an object that is filled again for the next one. */
import type { DirectValue } from '../cache/entry-store.ts';
import type { PodMetadata } from '../cache/listener.ts';
import { PackedKey } from '../cache/packed-key.ts';
import type { SourceEvent } from './source.ts';

export class PlainUpsert implements DirectValue {
  readonly key = new PackedKey();
  identity = 0;
  source = '';
  hostIP: string | undefined = undefined;
  encryptKey: number | undefined = undefined;
  readonly endpointFlags: undefined;
  pod: PodMetadata | undefined = undefined;

  /** The same to keep. */
  event(): Extract<SourceEvent, { readonly op: 'upsert' }> {
    const { key, identity, source, hostIP, encryptKey, endpointFlags, pod } = this;
    return { op: 'upsert', record: { key: key.text(), identity, source, hostIP, encryptKey, endpointFlags, pod } };
  }
}
