/** One entry with the marks by which Cilium 1.21 lets its two APIs share a key. */
import type { DirectValue } from './entry-store.ts';
import type { CacheEntry, PodMetadata } from './listener.ts';
import { samePod } from './same-entry.ts';

export class UpstreamEntry implements CacheEntry {
  readonly identity: number;
  readonly source: string;
  readonly hostIP: string | undefined;
  /** 0 without a host, whatever was given. */
  readonly encryptKey: number;
  readonly endpointFlags: number;
  readonly pod: PodMetadata | undefined;
  /** The source of a direct owner that the metadata has overwritten; empty for none. */
  overwrittenDirectSource = '';
  /** Once set it stays. */
  modifiedByDirect = false;
  shadowed = false;

  constructor(value: DirectValue) {
    this.identity = value.identity;
    this.source = value.source;
    this.hostIP = value.hostIP;
    this.encryptKey = value.hostIP === undefined ? 0 : (value.encryptKey ?? 0);
    this.endpointFlags = value.endpointFlags ?? 0;
    this.pod = value.pod;
  }

  get isOfDirectOnly(): boolean {
    return this.modifiedByDirect && this.overwrittenDirectSource === '';
  }

  get isOfMetadataOnly(): boolean {
    return !this.modifiedByDirect;
  }

  get isOfBoth(): boolean {
    return this.modifiedByDirect && this.overwrittenDirectSource !== '';
  }

  /** Whether writing `next` is no change. Without a pod it always is one. */
  equals(next: UpstreamEntry, encryptKey: number): boolean {
    return (
      this.identity === next.identity &&
      this.source === next.source &&
      this.shadowed === next.shadowed &&
      this.modifiedByDirect === next.modifiedByDirect &&
      this.overwrittenDirectSource === next.overwrittenDirectSource &&
      this.hostIP === next.hostIP &&
      this.encryptKey === encryptKey &&
      this.endpointFlags === next.endpointFlags &&
      this.pod !== undefined &&
      samePod(this.pod, next.pod)
    );
  }

  copy(): UpstreamEntry {
    return this.withKey(this.encryptKey);
  }

  /** A copy that shows another encrypt key. */
  withKey(encryptKey: number): UpstreamEntry {
    const copy: UpstreamEntry = Object.create(UpstreamEntry.prototype);
    return Object.assign(copy, this, { encryptKey });
  }
}
