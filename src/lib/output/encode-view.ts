/** How an encoded entry looks: its bytes, and the words that bpftool takes. */
import { scopeOf } from '../identity/numeric-identity.ts';
import type { EncodedEntry } from '../ipcache/encode-entry.ts';
import { decodeEntry } from '../ipcache/entry.ts';
import { hexOf } from '../ipcache/key.ts';
import type { Layout } from '../ipcache/layout.ts';
import { identityWords } from './identity-words.ts';
import type { ReportView } from './view.ts';

export interface EncodeModel extends EncodedEntry {
  readonly layout: Layout;
  /** How bpftool names the map: `pinned PATH`, `id N` or `name NAME`. */
  readonly bpftoolMap: string;
}

export const encodeView: ReportView<EncodeModel> = {
  kind: 'encode',
  json(model) {
    const entry = decodeEntry(model.layout, { keys: model.key, values: model.value });
    return {
      prefix: entry.prefix,
      clusterId: entry.clusterId === 0 ? undefined : entry.clusterId,
      family: entry.family,
      identity: entry.identity,
      scope: scopeOf(entry.identity),
      tunnelEndpoint: entry.tunnelEndpoint,
      encryptKey: entry.encryptKey,
      flags: entry.flagNames,
      nodeId: entry.nodeId,
      key: hexOf(model.key),
      value: hexOf(model.value),
      layout: model.layout.name,
      bpftool: bpftoolCommand(model),
    };
  },
  *text(model, paint) {
    const entry = decodeEntry(model.layout, { keys: model.key, values: model.value });
    yield `${paint.bold('entry ')}  ${entry.prefix} → ${entry.identity} (${identityWords(entry.identity)})`;
    yield `${paint.bold('layout')}  ${model.layout.name} (Cilium ${model.layout.cilium})`;
    yield `${paint.bold('key   ')}  ${spaced(model.key)}`;
    yield `${paint.bold('value ')}  ${spaced(model.value)}`;
    yield '';
    yield bpftoolCommand(model);
  },
};

function bpftoolCommand({ key, value, bpftoolMap }: EncodeModel): string {
  return `bpftool map update ${bpftoolMap} key hex ${spaced(key)} value hex ${spaced(value)}`;
}

function spaced(bytes: Uint8Array): string {
  return hexOf(bytes).replace(/..(?!$)/g, '$& ');
}
