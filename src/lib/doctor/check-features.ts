/** What the kernel lacks, and what `ipc` does instead. */

import type { FeatureName } from '../bpf/feature-probes.ts';
import { Features } from '../bpf/features.ts';
import type { Finding } from '../check/finding.ts';
import type { Kernel } from '../native/kernel.ts';

const INSTEAD: Readonly<Record<FeatureName, string>> = {
  mapCreate: 'no map can be made or replaced; reading and writing existing maps works',
  lpmBatchLookup: 'maps are read entry by entry, which takes about twice as long',
  lpmNextKey: 'every reading is proved by a second one, which takes about twice as long',
  rdonlyProg: 'new maps are made without BPF_F_RDONLY_PROG',
  pinExchange: 'a pin is replaced by renaming over it',
};

/** One line for what is there, one for each feature that is absent or could not be probed. Makes private maps only. */
export function checkFeatures(kernel: Kernel): Finding[] {
  const features = new Features({ kernel });
  const { outcome: making, reason: refusal } = features.have('mapCreate');
  // Every other probe begins with a private map.
  if (making === 'unknown') {
    return [
      {
        check: 'may-create-maps',
        severity: 'low',
        message: 'may not create maps, so what the kernel can do was not probed',
        hint: 'it needs CAP_BPF',
        evidence: [refusal],
      },
    ];
  }
  const present: string[] = [];
  const findings: Finding[] = [];
  for (const { name, title, minKernel, outcome, reason } of features.all()) {
    if (outcome === 'available') present.push(title);
    else if (outcome === 'absent') {
      findings.push({
        check: 'kernel-feature',
        severity: 'low',
        message: `this kernel has no ${title}: ${INSTEAD[name]}`,
        hint: `Linux ${minKernel} has it`,
        evidence: [reason],
      });
    } else {
      findings.push({
        check: 'kernel-feature',
        severity: 'info',
        message: `not probed: ${title}, which Linux ${minKernel} has`,
        evidence: [reason],
      });
    }
  }
  if (present.length === 0) return findings;
  return [{ check: 'kernel', severity: 'info', message: `the kernel has ${present.join(', ')}` }, ...findings];
}
