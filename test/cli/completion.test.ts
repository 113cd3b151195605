/** Completion scripts are golden files, written by `npm run goldens`, and work in the shells that are installed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../support/installed-program.ts';

const FOLDER = 'test/cli/completion';
const UPDATE = process.env.IPC_UPDATE_GOLDENS === '1';
const SHELLS = ['bash', 'zsh', 'fish'] as const;

const installed = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).error === undefined;
const golden = (shell: string): string => path.resolve(FOLDER, `ipc.${shell}`);

let program: InstalledProgram;
beforeAll(() => {
  program = installProgram();
});
afterAll(() => program[Symbol.dispose]());

describe('ipc completion', () => {
  it.each(SHELLS)('of %s is its golden file', (shell) => {
    const { status, stdout, stderr } = program.run(['completion', shell]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    if (UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(golden(shell), stdout);
    }
    expect(stdout, `${golden(shell)} differs: npm run goldens`).toBe(readFileSync(golden(shell), 'utf8'));
  });

  it.each(SHELLS.filter(installed))('of %s has the syntax of that shell', (shell) => {
    const { status, stderr } = spawnSync(shell, ['-n', golden(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('prints words for scripts, each with what it is', () => {
    const lines = program.run(['completion', '--values', 'identity']).stdout.split('\n');
    expect(lines).toContain('ingress\tthe address that ingress proxies connect from');
    expect(program.run(['completion', '--values', 'map', '--bpffs', '/nonexistent']).stdout).toContain('datapath\t');
    expect(program.run(['completion', '--values', 'all']).status).toBe(2);
  });

  it('does not show how scripts ask for words', () => {
    expect(program.run(['completion', '--help']).stdout).not.toContain('--values');
    expect(readFileSync(golden('bash'), 'utf8')).not.toMatch(/_flags.*--values/);
  });
});

/** What bash offers for words of which the last is being typed. @param breaks where readline breaks words besides blanks */
function inBash(words: readonly string[], breaks: '=:' | '' = '=:'): string[] {
  const split = (word: string): string[] => (breaks === '' ? [word] : word.split(/([:=]+)/));
  const parts = words.flatMap((word) => (word === '' ? [word] : split(word).filter((piece) => piece !== '')));
  const { status, stdout, stderr } = program.shell(`
    source "${golden('bash')}"
    COMP_WORDBREAKS=$' \\t\\n${breaks}'
    COMP_WORDS=(${parts.map((part) => `'${part}'`).join(' ')}) COMP_CWORD=${parts.length - 1}
    _ipc
    for word in "\${COMPREPLY[@]}"; do echo "$word"; done`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it.each<[string[], string[]]>([
    [['ipc', 'du'], ['dump']],
    [['ipc', '-j', 'du'], ['dump']],
    [['ipc', '-m', 'dump', 'du'], ['dump']],
    [['ipc', 'dump', '--sco'], ['--scope']],
    [['ipc', 'dump', '--no-l'], ['--no-labels']],
    [
      ['ipc', 'dump', '--scope', ''],
      ['reserved', 'global', 'local', 'remote-node', 'unknown'],
    ],
    [['ipc', 'dump', '--scope', 'lo'], ['local']],
    [['ipc', 'dump', '--scope=lo'], ['local']],
    [
      ['ipc', 'dump', '--scope', 'local,re'],
      ['local,reserved', 'local,remote-node'],
    ],
    [['ipc', 'dump', '--scope=local,rem'], ['local,remote-node']],
    [['ipc', 'dump', '-o', 'b'], ['bpftool']],
    [['ipc', 'get', '-o', 'b'], []],
    [['ipc', 'dump', '--limit', ''], []],
    [['ipc', 'dump', '--identity', 'ingr'], ['ingress']],
    [['ipc', 'identity', 'ingr'], ['ingress']],
    [
      ['ipc', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['ipc', 'dump', '--json', '--scope', 'lo'], ['local']],
    [['ipc', 'dump', '--map', 'datap'], ['datapath']],
    [['ipc', '--vers'], ['--version']],
  ])('of %j is %j', (words, expected) => {
    expect(inBash(words)).toEqual(expected);
  });

  it('puts words together that were broken at = and :, and hands back only what comes behind', () => {
    const ids = program
      .run(['completion', '--values', 'map'])
      .stdout.split('\n')
      .flatMap((line) => /^id:(\d+)\t/.exec(line)?.[1] ?? []);
    for (const words of [
      ['ipc', 'dump', '--map', 'id:'],
      ['ipc', 'dump', '--map=id:'],
    ]) {
      const offered = inBash(words);
      for (const id of offered) expect(id).toMatch(/^\d+$/);
      if (ids.length > 0) expect(offered.length).toBeGreaterThan(0);
    }
    expect(inBash(['ipc', 'dump', '--scope=lo'], '')).toEqual(['--scope=local']);
  });

  it('offers files and directories', () => {
    expect(inBash(['ipc', 'batch', '/etc/host'])).toContain('/etc/hosts');
    expect(inBash(['ipc', 'dump', '--file=/etc/host'])).toContain('/etc/hosts');
    const directories = inBash(['ipc', 'dump', '--state-dir', '/et']);
    expect(directories).toContain('/etc');
  });
});

describe.skipIf(!installed('fish'))('completion in fish', () => {
  it.each([
    ['ipc du', 'dump'],
    ['ipc dump --sco', '--scope'],
    ['ipc dump --scope lo', 'local'],
    ['ipc dump -o bpf', 'bpftool'],
    ['ipc identity ingr', 'ingress'],
    ['ipc dump --map datap', 'datapath'],
  ])('of %j has %j', (line, expected) => {
    const script = `function ipc; "${process.execPath}" "${program.bin}" $argv; end
      source "${golden('fish')}"; complete -C "${line}"`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: program.folder },
    });
    expect(stderr).toBe('');
    expect(stdout.split('\n').map((text) => text.split('\t')[0])).toContain(expected);
  });
});

describe.skipIf(!installed('zsh'))('completion in zsh', () => {
  it('is registered by sourcing it, and by its name in $fpath', () => {
    const load = [`source "${golden('zsh')}"`, 'true'];
    const registered = load.map((command) => {
      const script = `mkdir "$HOME/functions"; cp "${golden('zsh')}" "$HOME/functions/_ipc"; fpath=("$HOME/functions" $fpath)
        autoload -Uz compinit && compinit -u -D; ${command}; print -r -- "$_comps[ipc]"`;
      const home = mkdtempSync(path.join(tmpdir(), 'ipc-zsh-'));
      const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', script], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: home },
      });
      rmSync(home, { recursive: true });
      return { stdout, stderr };
    });
    expect(registered).toEqual(load.map(() => ({ stdout: '_ipc\n', stderr: '' })));
  });
});
