/** The labels that a prefix gets by itself: its cidr label and the world label of its family (Cilium 1.21). */
import { MalformedError } from '../errors.ts';
import { familyOf, parseAddress } from '../net/address.ts';
import { maskAddress, samePrefixBits } from '../net/prefix.ts';
import { type Label, reservedLabel, SOURCE_CIDR } from './label.ts';
import { type LabelCidr, labelKeyOf, parseCidr } from './label-cidr.ts';
import { Labels } from './labels.ts';
import type { IdentityOptions } from './options.ts';

type Families = Pick<IdentityOptions, 'enableIPv4' | 'enableIPv6'>;

/** The cidr label of a prefix of length 1 or more; the key is masked, the label remembers host bits where there are any. */
export function cidrLabel(cidr: LabelCidr): Label {
  const label = { source: SOURCE_CIDR, key: labelKeyOf(cidr), value: '' };
  const { address, length } = cidr;
  return samePrefixBits(maskAddress(address, length), address, address.length * 8) ? label : { ...label, cidr };
}

/**
 * The world label of an address of 4 or 16 bytes: `world-ipv4` when IPv6 is on, `world-ipv6` when IPv4 is on, else
 * `world`. Whether the address's own family is on does not matter.
 */
export function worldLabel(address: Uint8Array, options: Families): Label {
  if (familyOf(address) === 'ipv4') return reservedLabel(options.enableIPv6 ? 'world-ipv4' : 'world');
  return reservedLabel(options.enableIPv4 ? 'world-ipv6' : 'world');
}

/** Both of them; a prefix of length 0 has the world label only. v4-mapped addresses are IPv6 here. */
export function cidrLabels(cidr: LabelCidr, options: Families): Labels {
  const world = worldLabel(cidr.address, options);
  return Labels.of(cidr.length > 0 ? [cidrLabel(cidr), world] : [world]);
}

/**
 * The one label for `ADDR` or `ADDR/LEN`: cidr, or world for length 0. A zone after a bare address is dropped.
 * @throws {MalformedError} code BAD_CIDR
 */
export function labelFromCidrText(text: string, options: Families): Label {
  const cidr = text.includes('/') ? parseCidr(text) : hostCidr(text);
  if (cidr === undefined) {
    const kind = text.includes('/') ? 'a CIDR' : 'an IP address';
    throw new MalformedError(`Cannot make a label of ${JSON.stringify(text)}: it is not ${kind}`, { code: 'BAD_CIDR' });
  }
  return cidr.length > 0 ? cidrLabel(cidr) : worldLabel(cidr.address, options);
}

function hostCidr(text: string): LabelCidr | undefined {
  const zone = text.indexOf('%');
  const bare = zone > 0 && zone < text.length - 1 && text.includes(':') ? text.slice(0, zone) : text;
  const address = parseAddress(bare);
  return address === undefined ? undefined : { address, length: address.length * 8 };
}
