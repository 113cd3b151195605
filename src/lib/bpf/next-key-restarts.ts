/** Whether next-key tells the truth on this kernel, found out once per kernel. */
import type { Kernel } from '../native/kernel.ts';
import { Features } from './features.ts';

const FEATURES = new WeakMap<Kernel, Features>();

/**
 * Whether next-key of an absent key of an LPM trie is always the first key (Linux 6.13, stable kernels of December 2024).
 * False also where it could not be found out: then nothing may rest on it.
 */
export async function nextKeyRestarts(kernel: Kernel): Promise<boolean> {
  let features = FEATURES.get(kernel);
  if (features === undefined) {
    features = new Features({ kernel });
    FEATURES.set(kernel, features);
  }
  return (await features.have('lpmNextKey')).outcome === 'available';
}
