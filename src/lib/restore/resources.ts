/** Under which names restored metadata stands, as in Cilium (pkg/ipcache/restore, 1.21-dev). */
import { newResourceID } from '../cache/resource-id.ts';

/** The source of everything that is restored: all but `unspec` are stronger. */
export const RESTORED_SOURCE = 'restored';

/** Placeholders: they keep a number until somebody claims the prefix or the grace period ends. */
export const RESTORED_RESOURCE = newResourceID('daemon', '', 'restored');

/** The node's ingress addresses, which no release ends. */
export const INGRESS_RESOURCE = newResourceID('daemon', '', 'ingress');

export const INGRESS_LABEL = 'reserved:ingress';
