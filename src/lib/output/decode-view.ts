/** How decoded bytes look: an entry as `ipc dump --raw` prints it, without what the bytes did not have. */
import { scopeOf } from '../identity/numeric-identity.ts';
import { flagNames } from '../ipcache/flags.ts';
import { hexOf } from '../ipcache/key.ts';
import type { DecodedPaste } from '../ipcache/pasted/decode-pasted.ts';
import { hasTunnel, tunnelText } from '../ipcache/remote-endpoint-info.ts';
import { identityWords } from './identity-words.ts';
import type { JsonObject, ListView } from './view.ts';

export const decodeView: ListView<DecodedPaste> = {
  columns: [
    { title: 'PREFIX', value: ({ key }) => key?.text ?? '-' },
    { title: 'IDENTITY', value: ({ value }) => value?.identity ?? '-' },
    { title: 'SCOPE', value: ({ value }) => (value ? identityWords(value.identity) : '-') },
    { title: 'TUNNEL', value: (row) => tunnelOf(row) ?? '-' },
    { title: 'KEY', value: ({ value }) => value?.encryptKey ?? '-' },
    { title: 'FLAGS', value: (row) => flagsOf(row)?.join(',') || '-' },
    { title: 'LAYOUT', value: ({ layout }) => layout.name },
    { title: 'WARNINGS', value: ({ warnings }) => warnings.join(', ') },
  ],
  empty: 'no entries',
  json: decodeJson,
};

function decodeJson(row: DecodedPaste): JsonObject {
  const { key, value, bytes, layout, warnings } = row;
  return {
    ...(key && { prefix: key.text }),
    ...(key && key.clusterId !== 0 && { clusterId: key.clusterId }),
    ...(key && { family: key.family }),
    ...(value && { identity: value.identity, scope: scopeOf(value.identity) }),
    tunnelEndpoint: tunnelOf(row),
    ...(value && { encryptKey: value.encryptKey, flags: flagsOf(row) }),
    nodeId: value?.nodeId,
    ...(warnings.length > 0 && { warnings }),
    ...(bytes.key && { key: hexOf(bytes.key) }),
    ...(bytes.value && { value: hexOf(bytes.value) }),
    layout: layout.name,
  };
}

function tunnelOf({ value, layout }: DecodedPaste): string | undefined {
  return value && hasTunnel(layout.value, value) ? tunnelText(value) : undefined;
}

function flagsOf({ value, layout }: DecodedPaste): readonly string[] | undefined {
  return value && flagNames(value.flags, layout.value.knownFlags);
}
