/**
 * Writes what the documents say about commands from the manifest: the list in README.md and all of docs/commands.md.
 * `--check` writes nothing and fails when a document is not what it should be.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes('--check');
const { commands } = JSON.parse(readFileSync(path.join(root, 'oclif.manifest.json'), 'utf8'));
const all = Object.values(commands).sort((a, b) => (a.id < b.id ? -1 : 1));

const readme = path.join(root, 'README.md');
const documents = [
  [readme, replacePart(readFileSync(readme, 'utf8'), commandTable())],
  [path.join(root, 'docs', 'commands.md'), commandsPage()],
];
let stale = 0;
for (const [file, text] of documents) {
  if (readOrEmpty(file) === text) continue;
  stale++;
  if (check) process.stdout.write(`${path.relative(root, file)} does not fit the commands: npm run usage\n`);
  else writeFileSync(file, text);
}
process.exit(check && stale > 0 ? 1 : 0);

function commandTable() {
  const rows = all.map(
    (command) => `| [\`ipc ${command.id}\`](docs/commands.md#ipc-${command.id}) | ${command.summary} |`,
  );
  return ['| command | does |', '|---|---|', ...rows].join('\n');
}

function commandsPage() {
  const shared = Object.values(all[0]?.flags ?? {}).filter((flag) => flag.helpGroup === 'GLOBAL');
  return [
    '# Commands',
    '',
    'Made from the commands by `npm run usage`. Every flag below and its variable can stand in the config file by its name, if it has a',
    'variable or can be repeated.',
    '',
    '## Flags of every command',
    '',
    ...flagTable(shared),
    ...all.flatMap(commandSection),
    '',
  ].join('\n');
}

function commandSection(command) {
  const own = Object.values(command.flags).filter((flag) => flag.helpGroup !== 'GLOBAL' && !flag.hidden);
  const args = Object.values(command.args);
  const words = args.map((arg) => (arg.required ? arg.name.toUpperCase() : `[${arg.name.toUpperCase()}]`));
  const formats = command.flags.output?.options ?? [];
  return [
    '',
    `## ipc ${command.id}`,
    '',
    sentence(command.summary),
    ...(command.description ? ['', command.description] : []),
    '',
    '```',
    ['ipc', command.id, ...words, '[FLAGS]'].join(' '),
    '```',
    ...(formats.length > 1 ? ['', `Formats: ${formats.join(', ')}.`] : []),
    ...(args.length > 0 ? ['', ...args.map((arg) => `- \`${arg.name.toUpperCase()}\`: ${arg.description}`)] : []),
    ...(own.length > 0 ? ['', ...flagTable(own)] : []),
    ...(command.examples ?? []).flatMap(exampleLines),
  ];
}

function flagTable(flags) {
  const rows = flags.map((flag) => {
    const value = flag.type === 'boolean' ? '' : ` ${flag.helpValue ?? flag.options?.join('\\|') ?? 'VALUE'}`;
    const name = `\`${flag.char ? `-${flag.char}, ` : ''}--${flag.name}${value.replaceAll('\\|', '|')}\``.replaceAll(
      '|',
      '\\|',
    );
    const variable = flag.env ? `\`${flag.env}\`` : '';
    const repeats = flag.multiple ? ' (repeatable, comma list)' : '';
    return `| ${name} | ${variable} | ${flag.summary ?? ''}${repeats} |`;
  });
  return ['| flag | variable | |', '|---|---|---|', ...rows];
}

function exampleLines(example) {
  const command = example.command.replaceAll('<%= config.bin %>', 'ipc');
  return ['', `${sentence(example.description)}`, '', '```sh', command, '```'];
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.:]$/.test(text) ? '' : '.'}`;
}

function replacePart(text, part) {
  const place = /(<!-- commands -->\n)[\s\S]*?(<!-- end of commands -->)/;
  if (!place.test(text)) throw new Error('README.md has no place for the commands');
  return text.replace(place, (_, begin, end) => `${begin}${part}\n${end}`);
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
