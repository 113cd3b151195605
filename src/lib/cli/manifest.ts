import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Manifest } from '@oclif/core/interfaces';
import type { Program } from './program-plugin.ts';

/** Reads the manifest that the build put beside package.json, once and only when it is asked for something. */
export function manifestReader(root: string): Program['describe'] {
  let manifest: Manifest | undefined;
  return (id) => {
    manifest ??= JSON.parse(readFileSync(path.join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;
    return manifest.commands[id] ?? {};
  };
}
