/**
 * The only importer of koffi, and only when first needed: its JavaScript shell takes 8 ms, which commands that call
 * nothing native must not pay. The shell decides between two builds and adds deprecated aliases; where the system has
 * no musl loader there is nothing to decide, and the binary is loaded directly in half a millisecond.
 */
import { existsSync } from 'node:fs';
import type koffi from 'koffi';
import { KernelFeatureError } from '../errors.ts';

export type Koffi = Pick<typeof koffi, 'address' | 'errno' | 'load'>;

const MUSL_LOADERS: Readonly<Record<string, string>> = {
  x64: '/lib/ld-musl-x86_64.so.1',
  arm64: '/lib/ld-musl-aarch64.so.1',
};

let loaded: Koffi | undefined;

/** @throws {KernelFeatureError} code NO_NATIVE where no build of koffi fits this system. */
export function loadKoffi(): Koffi {
  loaded ??= loadDirectly() ?? loadShell();
  return loaded;
}

function loadDirectly(): Koffi | undefined {
  const { platform, arch } = process;
  const musl = MUSL_LOADERS[arch];
  if (platform !== 'linux' || musl === undefined || existsSync(musl)) return undefined;
  try {
    return require(`@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`) as Koffi;
  } catch {
    return undefined;
  }
}

function loadShell(): Koffi {
  try {
    return require('koffi') as Koffi;
  } catch (cause) {
    throw new KernelFeatureError('Cannot call the kernel: the native module koffi cannot be loaded', {
      code: 'NO_NATIVE',
      hint: 'install with optional dependencies; the prebuilt module needs glibc 2.25 or musl, and libstdc++',
      cause,
    });
  }
}
