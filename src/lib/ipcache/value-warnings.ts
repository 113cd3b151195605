/** Where the parts of one value contradict each other about the tunnel. */
import { FLAG, type ValueLayout } from './layout.ts';
import { hasTunnelBytes, type RemoteEndpointInfo } from './remote-endpoint-info.ts';

/**
 * - `tunnel-without-flag`: tunnel bytes are set, but the datapath is not told to use them
 * - `flag-without-tunnel`: the datapath is told to use a tunnel endpoint that is all zero
 */
export type ValueWarning = 'tunnel-without-flag' | 'flag-without-tunnel';

/** Empty for a sound value, and always for layouts older than `hastunnel`. */
export function valueWarnings(layout: ValueLayout, info: RemoteEndpointInfo): readonly ValueWarning[] {
  if ((layout.knownFlags & FLAG.hastunnel) === 0) return [];
  const flagged = (info.flags & FLAG.hastunnel) !== 0;
  const filled = hasTunnelBytes(info);
  if (flagged === filled) return [];
  return [filled ? 'tunnel-without-flag' : 'flag-without-tunnel'];
}
