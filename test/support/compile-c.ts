/** Compiles a C program of bench/ for tests. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

/** Whether there is a C compiler; tests that need one are left out without it. */
export const haveCompiler = spawnSync('cc', ['--version'], { stdio: 'ignore' }).error === undefined;

/** @param name a file of bench/ without its extension. @returns the binary's path in `directory`. */
export function compileC(name: string, directory: string): string {
  const binary = join(directory, name);
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', binary, resolve(`bench/${name}.c`)]);
  return binary;
}
