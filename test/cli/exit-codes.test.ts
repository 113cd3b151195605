/** Exit statuses that need no kernel map; those that do are in test/privileged/cli. Add a row for each new command and condition. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { type ExitRow, itExits, rowName } from '../support/exit-table.ts';
import { type InstalledProgram, installProgram } from '../support/installed-program.ts';

const COMMANDS = readdirSync('src/commands').map((name) => name.replace(/\.ts$/, ''));

const folder = mkdtempSync(path.join(tmpdir(), 'ipc-exits-'));
const unknownKey = path.join(folder, 'unknown-key.yaml');
writeFileSync(unknownKey, 'mapp: /x\n');
const notYaml = path.join(folder, 'not-yaml.yaml');
writeFileSync(notYaml, 'map: "x\n');

let program: InstalledProgram;
beforeAll(() => {
  program = installProgram();
});
afterAll(() => {
  program[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

/** What must hold for each command, however it uses what all of them share. */
function everywhere(command: string): ExitRow[] {
  return [
    { argv: [command, '--nope'], exit: 2, code: 'UNKNOWN_FLAG', when: 'a flag is unknown' },
    { argv: [command, '-o', 'xml'], exit: 2, code: 'BAD_VALUE', when: 'the format is unknown' },
  ];
}

/** What all commands share, on one of them. */
function shared(command: string): ExitRow[] {
  return [
    { argv: [command, '--map'], exit: 2, when: 'a flag has no value', json: false },
    { argv: [command, '--layout', 'x', '--layout', 'y'], exit: 2, when: 'a flag is given twice' },
    { argv: [command, '--config', '/nonexistent'], exit: 2, when: 'the config file is missing' },
    {
      argv: [command, '--config', unknownKey],
      exit: 2,
      code: 'CONFIG_KEY',
      when: 'the config file has an unknown key',
    },
    { argv: [command, '--config', notYaml], exit: 9, code: 'CONFIG_SYNTAX', when: 'the config file is not YAML' },
    { argv: [command, '--help'], exit: 0, when: 'help is wanted', json: false },
    { argv: ['help', command], exit: 0, when: `help on ${command} is wanted`, json: false },
  ];
}

const KEY = '38000000 00000001 0a000000 00000000 00000000 00000000';

const ROWS: readonly ExitRow[] = [
  { argv: [], exit: 0, when: 'there are no words', json: false },
  { argv: ['--help'], exit: 0, when: 'help is wanted', json: false },
  { argv: ['--version'], exit: 0, when: 'the version is wanted', json: false },
  { argv: ['dmup'], exit: 2, code: 'UNKNOWN_COMMAND', says: /did you mean dump\?/, when: 'the command is unknown' },
  { argv: ['nothing-like-it'], exit: 2, code: 'UNKNOWN_COMMAND', when: 'the command is like no other' },
  {
    argv: ['nothing-like-it', '--help'],
    exit: 2,
    code: 'UNKNOWN_COMMAND',
    when: 'help on an unknown command is wanted',
  },
  { argv: ['--nope'], exit: 2, code: 'MISSING_COMMAND', when: 'there is a flag but no command' },

  ...COMMANDS.flatMap(everywhere),
  ...shared('dump'),

  { argv: ['dump', 'word'], exit: 2, code: 'UNEXPECTED_ARGUMENT', when: 'it gets an argument' },
  { argv: ['dump', '--within', '10.0.0.0/33'], exit: 2, code: 'BAD_PREFIX', when: 'a prefix is bad' },
  { argv: ['dump', '--scope', 'locl'], exit: 2, says: /did you mean local\?/, when: 'a word is bad' },
  { argv: ['dump', '--limit', '-1'], exit: 2, when: 'a number is bad' },
  { argv: ['dump', '--map', '/sys/fs/bpf/nonexistent'], exit: 3, when: 'there is no such pin' },
  { argv: ['dump', '--map', 'id:4294967295'], exit: 3, when: 'there is no such id' },

  { argv: ['doctor', '--fail-on', 'hihg'], exit: 2, says: /did you mean high\?/, when: 'a severity is bad' },
  { argv: ['doctor', '--wait', 'soon'], exit: 2, code: 'BAD_DURATION', when: 'a duration is bad' },
  { argv: ['doctor', '--map', '/sys/fs/bpf/nonexistent'], exit: 3, when: 'there is no such pin' },

  { argv: ['restore', '--map', '/sys/fs/bpf/nonexistent'], exit: 3, when: 'there is no such pin' },
  { argv: ['restore', '--from', '/nonexistent.ndjson'], exit: 3, when: 'there is no such snapshot' },
  { argv: ['restore', '--all'], exit: 2, says: /--to/, when: 'all is to go where it is already' },
  { argv: ['restore', '--recreate', '--to', '/x'], exit: 2, when: 'two flags contradict each other' },
  { argv: ['restore', '--include-guessed'], exit: 2, when: 'a flag lacks another one' },
  { argv: ['restore', '--map-flags', 'many'], exit: 2, code: 'BAD_NUMBER', when: 'the flags of a map are no number' },
  { argv: ['release', '--state-dir', '/nonexistent'], exit: 3, code: 'NO_STATE', when: 'nothing was restored' },
  { argv: ['release', '--claims', 'nonsense'], exit: 2, code: 'BAD_SOURCE', when: 'a source is bad' },
  {
    argv: ['status', '--state-dir', '/nonexistent', '--socket', ''],
    exit: 3,
    code: 'NO_STATE',
    when: 'there is neither state nor loop',
  },

  { argv: ['decode', KEY], exit: 0, when: 'a key is given' },
  { argv: ['decode', 'zz'], exit: 2, when: 'the argument is not hexadecimal' },
  { argv: ['decode'], stdin: 'zz\n', exit: 9, when: 'standard input is not hexadecimal' },
  { argv: ['decode'], stdin: '', exit: 9, when: 'standard input is empty' },
  { argv: ['decode', '-o', 'cilium'], exit: 2, when: 'it does not have the format' },
  { argv: ['encode', '10.0.0.0/24', '--identity', '16777217'], exit: 0, when: 'a prefix and an identity are given' },
  { argv: ['encode'], exit: 2, code: 'MISSING_ARGUMENT', when: 'the prefix is missing' },
  { argv: ['encode', '10.0.0.0/33'], exit: 2, code: 'BAD_PREFIX', when: 'the prefix is bad' },

  { argv: ['batch'], exit: 2, code: 'MISSING_ARGUMENT', when: 'the file is missing' },
  { argv: ['batch', '/nonexistent'], exit: 3, when: 'there is no such file' },
  { argv: ['batch', '/'], exit: 2, when: 'the file is a directory' },
  { argv: ['batch', '-'], stdin: 'encode ::1 --identity 5 # fine\n', exit: 0, when: 'every line succeeds' },
  {
    argv: ['batch', '-'],
    stdin: 'decode "x\n',
    exit: 9,
    code: 'BATCH_LINE',
    prints: true,
    when: 'a line is malformed',
  },
  {
    argv: ['batch', '-'],
    stdin: 'dmup\n',
    exit: 2,
    says: /did you mean dump\?/,
    prints: true,
    when: 'a line is no command',
  },
  {
    argv: ['batch', '-'],
    stdin: 'listen\n',
    exit: 2,
    code: 'NOT_IN_A_BATCH',
    prints: true,
    when: 'a line cannot be run',
  },
  { argv: ['batch', '-'], stdin: 'dump -m /x\n', exit: 3, says: /line 1: /, prints: true, when: 'a line fails with 3' },
  { argv: ['completion'], exit: 2, when: 'no shell is named' },
  { argv: ['completion', 'tcsh'], exit: 2, when: 'the shell is unknown' },
  { argv: ['completion', 'bash'], exit: 0, when: 'a shell is named', json: false },
  { argv: ['get', '10.0.0.1', '--history', '/'], exit: 2, says: /needs --why/, when: 'a flag of --why stands alone' },
  { argv: ['get', '-', '--why'], exit: 2, when: 'many addresses are to be explained' },

  { argv: ['set'], exit: 2, code: 'MISSING_ARGUMENT', when: 'the prefix is missing' },
  { argv: ['set', '10.0.0.1'], exit: 2, code: 'MISSING_FLAG', when: 'the identity is missing' },
  { argv: ['set', '10.0.0.1', '--identity', '0'], exit: 2, code: 'BAD_IDENTITY', when: 'the identity is 0' },
  { argv: ['set', '10.0.0.0/33', '--identity', '5'], exit: 2, code: 'BAD_PREFIX', when: 'the prefix is bad' },
  { argv: ['set', '10.0.0.1', '--identity', '5', '--tunnel', '0.0.0.0'], exit: 2, when: 'the tunnel is zero' },
  {
    argv: ['set', '10.0.0.1', '--identity', '5', '--create', '--replace'],
    exit: 2,
    when: 'both expectations are given',
  },
  { argv: ['set', '10.0.0.1', '--from-backup', '/nonexistent'], exit: 2, when: 'a backup and a prefix are given' },
  { argv: ['delete'], exit: 2, code: 'MISSING_ARGUMENT', when: 'the prefix is missing' },
  { argv: ['delete', '10.0.0.1', '10.0.0'], exit: 2, code: 'BAD_PREFIX', when: 'one prefix is bad' },
  { argv: ['listen'], exit: 2, code: 'NODE_FACT', says: /--underlay/, when: 'the underlay is not given' },
  { argv: ['listen', '--underlay', 'ipv6'], exit: 2, code: 'NODE_FACT', when: 'the address of the node is not given' },
  { argv: ['listen', '--underlay', 'none', '--no-ipv4', '--no-ipv6'], exit: 2, when: 'both families are off' },
  { argv: ['listen', '--underlay', 'none', '--map', '/x'], exit: 2, code: 'NO_SOURCE', when: 'there is no source' },
  {
    argv: ['listen', '--underlay', 'none', '--map', '/x', '--source', 'etcd:http://127.0.0.1:2379'],
    exit: 2,
    code: 'NO_SUCH_SOURCE',
    says: /cannot follow etcd/,
    when: 'the source is a kvstore',
  },
  {
    argv: ['listen', '--underlay', 'none', '--map', '/x', '--source', 'k8s'],
    exit: 2,
    code: 'NO_SUCH_SOURCE',
    when: 'the source is Kubernetes',
  },
  {
    argv: ['listen', '--underlay', 'none', '--map', '/x', '--source', 'ndjson:-,ndjson:-'],
    exit: 2,
    code: 'DUPLICATE_SOURCE',
    when: 'two sources have one name',
  },
  {
    argv: ['listen', '--underlay', 'none', '--map', '/nonexistent', '--source', 'ndjson:-'],
    exit: 3,
    code: 'NOT_BPFFS',
    when: 'the pin is not on bpffs',
  },
  {
    argv: ['listen', '--underlay', 'none', '--map', 'id:7', '--source', 'ndjson:-'],
    exit: 2,
    code: 'PIN_NEEDED',
    when: 'the map has no pin',
  },
  {
    argv: ['snapshot', '--keep', '3'],
    exit: 2,
    code: 'SNAPSHOT_TARGET',
    when: 'there is no directory to keep them in',
  },
  { argv: ['snapshot', '--from', '/nonexistent', '-'], exit: 3, when: 'the snapshot to convert is missing' },
  { argv: ['snapshot', '--from', '-', '-'], stdin: 'x\n', exit: 9, code: 'NOT_A_SNAPSHOT', when: 'it is none' },
  { argv: ['snapshot', '--redact-key', '/nonexistent', '-'], exit: 3, when: 'the key is missing' },
  { argv: ['snapshot', '--map', '/sys/fs/bpf/nonexistent', '-'], exit: 3, when: 'there is no such pin' },
  { argv: ['diff'], exit: 2, code: 'MISSING_ARGUMENT', when: 'nothing is named' },
  { argv: ['diff', '/nonexistent', '/nonexistent'], exit: 3, when: 'there is no such snapshot' },
  { argv: ['diff', '-', '-'], exit: 2, code: 'DIFF_INPUTS', when: 'standard input is named twice' },
  { argv: ['diff', '-', '--as-agent'], stdin: '', exit: 9, code: 'SNAPSHOT_CUT_OFF', when: 'the snapshot is empty' },
  { argv: ['diff', 'a', 'b', '--fail-on', 'renumberd'], exit: 2, says: /renumbered/, when: 'a class is misspelt' },
  { argv: ['diff', 'a', 'b', '--ignore', 'nothing'], exit: 2, code: 'BAD_IGNORE', when: 'it cannot be ignored' },
  { argv: ['gc'], exit: 2, code: 'NO_DESIRED_STATE', says: /--against/, when: 'nothing says what the map should have' },
  { argv: ['gc', '--against', 'snapsot:x'], exit: 2, code: 'BAD_SOURCE', when: 'the source is of no kind' },
  {
    argv: ['gc', '--tunnel', '192.0.2.1'],
    exit: 2,
    code: 'NO_DESIRED_STATE',
    when: 'nobody says that the node is gone',
  },
  { argv: ['gc', '--orphans', '--max-delete', '101%'], exit: 2, code: 'BAD_LIMIT', when: 'the limit is bad' },
  { argv: ['gc', '--orphans', '--rate', '0'], exit: 2, code: 'BAD_NUMBER', when: 'the rate is bad' },
];

describe('exit status', () => {
  itExits(
    () => program,
    () => ROWS,
    ROWS.map(rowName),
  );
});
