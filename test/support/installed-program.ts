/** The built program as a user has it: installed somewhere else, read-only, in a folder with a space in its name. */
import { type ChildProcessWithoutNullStreams, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = process.cwd();

export interface SpawnOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Runs as this user and group, without capabilities and supplementary groups. Needs root. */
  readonly uid?: number;
  /** The path of the program, when it is not the installed one. */
  readonly program?: string;
}

export interface SpawnResult {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InstalledProgram extends Disposable {
  /** The folder that holds bin, dist and node_modules. */
  readonly folder: string;
  readonly bin: string;
  run(argv: readonly string[], options?: SpawnOptions): SpawnResult;
  /** A shell script in which `ipc` is the program. */
  shell(script: string, options?: Pick<SpawnOptions, 'stdin' | 'cwd'>): SpawnResult;
  start(argv: readonly string[], options?: Pick<SpawnOptions, 'env'>): ChildProcessWithoutNullStreams;
}

/** Copies what `npm run build` made; builds first when a source is newer. */
export function installProgram(): InstalledProgram {
  buildWhenStale();
  const parent = mkdtempSync(path.join(realpathSync(tmpdir()), 'ipc-test-'));
  const folder = path.join(parent, 'installed program');
  for (const item of ['bin/run.cjs', 'dist', 'oclif.manifest.json', 'package.json', 'node_modules/@koromix']) {
    cpSync(path.join(ROOT, item), path.join(folder, item), { recursive: true });
  }
  chmodSync(parent, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    chmodSync(file, entry.isDirectory() ? 0o755 : file.endsWith('run.cjs') ? 0o555 : 0o444);
  }
  chmodSync(folder, 0o755);
  const bin = path.join(folder, 'bin', 'run.cjs');
  return {
    folder,
    bin,
    run(argv, { stdin = '', env = {}, cwd = '/', uid, program = bin } = {}) {
      const words = [process.execPath, program, ...argv];
      const prefix = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
      const [file = '', ...args] = [...prefix, ...words];
      return finished(spawnSync(file, args, { ...SPAWN, input: stdin, env: cleanEnvironment(env), cwd }));
    },
    shell(script, { stdin = '', cwd = '/' } = {}) {
      const text = `ipc() { "${process.execPath}" "${bin}" "$@"; }\n${script}`;
      return finished(spawnSync('bash', ['-c', text], { ...SPAWN, input: stdin, env: cleanEnvironment({}), cwd }));
    },
    start(argv, { env = {} } = {}) {
      return spawn(process.execPath, [bin, ...argv], { env: cleanEnvironment(env), cwd: '/' });
    },
    [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }),
  };
}

const SPAWN = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 30_000 } as const;

function finished({ status, signal, stdout, stderr, error }: SpawnSyncReturns<string>): SpawnResult {
  if (error !== undefined) throw error;
  return { status, signal, stdout, stderr };
}

/** Only what the program needs: no variable of the test runner may decide what it does. */
function cleanEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/nonexistent', ...env };
}

function buildWhenStale(): void {
  const built = path.join(ROOT, 'dist', 'index.cjs');
  const builtAt = existsSync(built) ? statSync(built).mtimeMs : 0;
  const newest = Math.max(
    ...readdirSync(path.join(ROOT, 'src'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(path.join(entry.parentPath ?? entry.path, entry.name)).mtimeMs),
  );
  if (builtAt > newest) return;
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the build failed: ${stderr}`);
}
