/**
 * The value of an address in the kvstore (Cilium 1.21, pkg/identity/identity.go), read and written as Go does: field names
 * in any case, the last of two wins, others are passed over, null counts as not given.
 */
import { MalformedError } from '../../errors.ts';
import { foldFieldName, goString, goText } from '../../identity/go-json.ts';
import { formatAddress, isMapped, parseAddress } from '../../net/address.ts';

export interface PairPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

export interface IpIdentityPair {
  /** Canonical text, v4-mapped unmapped; undefined when there is none. */
  readonly ip: string | undefined;
  /** The bytes of the mask; undefined for a single address, which is not the same as a full mask. */
  readonly mask: Uint8Array | undefined;
  readonly hostIP: string | undefined;
  readonly id: number;
  /** Encryption key index, 0 … 255. */
  readonly key: number;
  readonly metadata: string;
  readonly k8sNamespace: string;
  readonly k8sPodName: string;
  readonly k8sServiceAccount: string;
  readonly namedPorts: readonly PairPort[];
}

/** How upstream prints an address that is not there. */
const NO_ADDRESS = '<nil>';

/** @throws {MalformedError} code BAD_PAIR; the message says which field is wrong */
export function parsePair(json: string): IpIdentityPair {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw bad('it is not JSON');
  }
  // A fraction or exponent is no integer to Go, even where JavaScript sees a whole number.
  const broken = /"(id|key|port)"\s*:\s*-?\d+[.eE]/i.exec(json);
  if (broken !== null) throw bad(`${broken[1]} is not a whole number`);
  return pairFromValue(value);
}

/** As `parsePair`, for JSON that was parsed already. @throws {MalformedError} code BAD_PAIR */
export function pairFromValue(value: unknown): IpIdentityPair {
  const fields = foldedFields(value ?? {}, 'it');
  return {
    ip: addressField(fields.get('ip'), 'IP'),
    mask: maskField(fields.get('mask')),
    hostIP: addressField(fields.get('hostip'), 'HostIP'),
    id: unsignedField(fields.get('id'), 'ID', 0xffff_ffff),
    key: unsignedField(fields.get('key'), 'Key', 0xff),
    metadata: textField(fields.get('metadata'), 'Metadata'),
    k8sNamespace: textField(fields.get('k8snamespace'), 'K8sNamespace'),
    k8sPodName: textField(fields.get('k8spodname'), 'K8sPodName'),
    k8sServiceAccount: textField(fields.get('k8sserviceaccount'), 'K8sServiceAccount'),
    namedPorts: portsField(fields.get('namedports')),
  };
}

export function formatPair(pair: IpIdentityPair): string {
  const mask = pair.mask === undefined ? 'null' : `"${Buffer.from(pair.mask).toString('base64')}"`;
  const ports = pair.namedPorts.map(
    ({ name, port, protocol }) => `{"Name":${goString(name)},"Port":${port},"Protocol":${goString(protocol)}}`,
  );
  return [
    `{"IP":${goString(pair.ip ?? '')},"Mask":${mask},"HostIP":${goString(pair.hostIP ?? '')}`,
    `,"ID":${pair.id},"Key":${pair.key},"Metadata":${goString(pair.metadata)}`,
    optional('K8sNamespace', pair.k8sNamespace),
    optional('K8sPodName', pair.k8sPodName),
    optional('K8sServiceAccount', pair.k8sServiceAccount),
    ports.length === 0 ? '' : `,"NamedPorts":[${ports.join(',')}]`,
    '}',
  ].join('');
}

/**
 * The last part of the pair's key: the address, with the length of the mask when there is one. A mask with holes counts
 * as length 0, and one of 16 bytes may give an IPv4 address a length beyond 32.
 */
export function pairKeyName({ ip = NO_ADDRESS, mask }: Pick<IpIdentityPair, 'ip' | 'mask'>): string {
  return mask === undefined ? ip : `${ip}/${maskLength(mask)}`;
}

function maskLength(mask: Uint8Array): number {
  let length = 0;
  while (length < mask.length * 8 && ((mask[length >> 3] ?? 0) & (0x80 >> (length & 7))) !== 0) length++;
  for (let bit = length; bit < mask.length * 8; bit++) if ((mask[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) return 0;
  return length;
}

function optional(name: string, text: string): string {
  return text === '' ? '' : `,"${name}":${goString(text)}`;
}

function foldedFields(value: unknown, what: string): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(`${what} is not an object`);
  const fields = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) if (member !== null) fields.set(foldFieldName(name), member);
  return fields;
}

function textField(value: unknown, name: string): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw bad(`${name} is not a text`);
  return goText(value);
}

function addressField(value: unknown, name: string): string | undefined {
  const text = textField(value, name);
  if (text === '') return undefined;
  const bytes = parseAddress(text);
  if (bytes === undefined) throw bad(`${name} ${JSON.stringify(text)} is not an IP address`);
  return formatAddress(isMapped(bytes) ? bytes.subarray(12) : bytes);
}

function unsignedField(value: unknown, name: string, max: number): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max || Object.is(value, -0)) {
    throw bad(`${name} is not a whole number from 0 to ${max}`);
  }
  return value;
}

/** Base64, or a list of bytes. */
function maskField(value: unknown): Uint8Array | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return Uint8Array.from(value, (byte) => unsignedField(byte ?? 0, 'Mask', 0xff));
  const text = textField(value, 'Mask').replace(/[\r\n]/g, '');
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw bad('Mask is not base64');
  return Uint8Array.from(Buffer.from(text, 'base64'));
}

function portsField(value: unknown): PairPort[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw bad('NamedPorts is not a list');
  return value.map((item) => {
    const fields = foldedFields(item ?? {}, 'a named port');
    return {
      name: textField(fields.get('name'), 'Name'),
      port: unsignedField(fields.get('port'), 'Port', 0xffff),
      protocol: textField(fields.get('protocol'), 'Protocol'),
    };
  });
}

function bad(state: string): MalformedError {
  return new MalformedError(`Cannot read IP identity pair: ${state}`, { code: 'BAD_PAIR' });
}
