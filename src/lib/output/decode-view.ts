/** How decoded bytes look: an entry as `ipc dump --raw` prints it, without what the bytes did not have. */
import { scopeOf } from '../identity/numeric-identity.ts';
import { flagNames } from '../ipcache/flags.ts';
import { hexOf } from '../ipcache/key.ts';
import type { DecodedPaste } from '../ipcache/pasted/decode-pasted.ts';
import { hasTunnel, tunnelText } from '../ipcache/remote-endpoint-info.ts';
import { identityWords } from './identity-words.ts';
import type { Column, CsvCell, JsonObject, ListView } from './view.ts';

export const decodeView: ListView<DecodedPaste> = {
  columns: [
    orDash('PREFIX', ({ key }) => key?.text),
    orDash('IDENTITY', ({ value }) => value?.identity),
    orDash('SCOPE', ({ value }) => value && identityWords(value.identity)),
    orDash('TUNNEL', tunnelOf),
    orDash('KEY', ({ value }) => value?.encryptKey),
    orDash('FLAGS', (row) => flagsOf(row)?.join(',') || undefined),
    { title: 'LAYOUT', value: ({ layout }) => layout.name },
    { title: 'WARNINGS', value: ({ warnings }) => warnings.join(', ') },
  ],
  empty: 'no entries',
  json: decodeJson,
};

/** What the bytes did not have is a dash for people and nothing in CSV. */
function orDash(title: string, cell: (row: DecodedPaste) => CsvCell): Column<DecodedPaste> {
  return { title, value: (row) => cell(row) ?? '-', csv: (row) => cell(row) ?? '' };
}

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
