/** The calls at which a command can be killed, learnt from a run of it, and runs that are killed there. Needs strace. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Calls that change something, and writes to event descriptors, which happen between the steps of asynchronous work. */
const CALLS = [
  'bpf',
  'rename',
  'link',
  'unlink',
  'fsync',
  'fdatasync',
  'ftruncate',
  'write',
  'pwrite64',
  'mkdir',
  'flock',
] as const;

export interface KillPoint {
  readonly call: string;
  /** The n-th call of a thread. */
  readonly n: number;
}

export interface RunEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** One thread in the pool, so that the n-th call is much the same in each run. */
const ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', UV_THREADPOOL_SIZE: '1' };

/**
 * Runs the command once to its end.
 * @param own directories; opening what lies in them is a point too, and the first of these begins the work that counts
 * @param log a file that may be written
 */
export async function killPoints(
  argv: readonly string[],
  own: readonly string[],
  log: string,
): Promise<{ readonly end: RunEnd; readonly points: readonly KillPoint[] }> {
  const end = await strace(['-o', log, '-e', `trace=openat,${CALLS.join()}`, ...argv]);
  const counts = new Map<string, number>();
  const points = new Map<string, KillPoint>();
  let begun = false;
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread = '', call = '', rest = ''] = /^([0-9]+) +([a-z0-9]+)\((.*)$/.exec(line) ?? [];
    if (call === '') continue;
    const n = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, n);
    const isOwn = own.some((directory) => rest.includes(`"${directory}`));
    begun ||= isOwn;
    if (begun && (isOwn || call !== 'openat')) points.set(`${call} ${n}`, { call, n });
  }
  return { end, points: [...points.values()] };
}

/** Kills the command as it comes to the call. Its signal is null where it ended before. */
export function runKilled(argv: readonly string[], { call, n }: KillPoint): Promise<RunEnd> {
  return strace(['-o', '/dev/null', '-e', `inject=${call}:signal=KILL:when=${n}`, ...argv]);
}

function strace(argv: readonly string[]): Promise<RunEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn('strace', ['-f', '--seccomp-bpf', ...argv], { env: ENV, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, stderr }));
  });
}
