/**
 * The labels of identity 1. Its number is fixed and its labels are the union over every prefix of the host, so one prefix
 * that comes or goes changes the one identity (Cilium 1.21, pkg/ipcache/metadata.go).
 */
import { reservedLabel } from '../identity/label.ts';
import { Labels } from '../identity/labels.ts';

const HOST = Labels.of([reservedLabel('host')]);

export class HostLabels {
  readonly #byPrefix = new Map<string, Labels>();
  #union: Labels = HOST;

  /** At least `reserved:host`. */
  get labels(): Labels {
    return this.#union;
  }

  set(prefix: string, labels: Labels): Labels {
    this.#byPrefix.set(prefix, labels);
    return this.#merge();
  }

  delete(prefix: string): Labels {
    this.#byPrefix.delete(prefix);
    return this.#merge();
  }

  #merge(): Labels {
    let union = HOST;
    for (const labels of this.#byPrefix.values()) union = union.merge(labels);
    this.#union = union;
    return union;
  }
}
