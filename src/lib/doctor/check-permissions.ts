/** What this user may do, found out by trying; nothing is changed by it. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { objectIds } from '../bpf/object-ids.ts';
import { openPin } from '../bpf/open-pin.ts';
import type { Finding } from '../check/finding.ts';
import { ToolError } from '../errors.ts';
import { fileError } from '../fs/file-error.ts';
import type { Kernel } from '../native/kernel.ts';

export interface PermissionOptions {
  readonly kernel: Kernel;
  /** The pin in question, where there is one. */
  readonly pin?: string | undefined;
  readonly stateDirectory: string;
}

interface Attempt {
  readonly check: string;
  /** Completes *may* and *may not*. */
  readonly what: string;
  readonly needs: string;
  readonly attempt: () => void;
}

/** What may be done is said in one line, what may not be done in one each. */
export function checkPermissions({ kernel, pin, stateDirectory }: PermissionOptions): Finding[] {
  const open = (write: boolean) => (): void => openPin(pin ?? '', { kernel, write })[Symbol.dispose]();
  const onPin: Attempt[] = [
    {
      check: 'may-read',
      what: `read ${pin}`,
      needs: 'permission to read the pin, or CAP_DAC_READ_SEARCH',
      attempt: open(false),
    },
    {
      check: 'may-write',
      what: `write ${pin}`,
      needs: 'permission to write the pin, or CAP_DAC_OVERRIDE',
      attempt: open(true),
    },
  ];
  const attempts: Attempt[] = [
    ...(pin === undefined ? [] : onPin),
    {
      check: 'may-list-maps',
      what: 'list maps by id',
      needs: 'CAP_SYS_ADMIN',
      attempt: () => objectIds(kernel, 'map').next(),
    },
    {
      check: 'may-list-programs',
      what: 'list programs',
      needs: 'CAP_SYS_ADMIN',
      attempt: () => objectIds(kernel, 'program').next(),
    },
    {
      check: 'may-keep-state',
      what: `keep state in ${stateDirectory}`,
      needs: 'a writable directory: another --state-dir, or root',
      attempt: () => requireWritable(nearestExisting(stateDirectory)),
    },
  ];
  const may: string[] = [];
  const mayNot: Finding[] = [];
  for (const attempt of attempts) {
    const refusal = refusalOf(attempt);
    if (refusal === undefined) may.push(attempt.what);
    else mayNot.push(refusal);
  }
  if (may.length === 0) return mayNot;
  return [{ check: 'permissions', severity: 'info', message: `may ${may.join(', ')}` }, ...mayNot];
}

function refusalOf({ check, what, needs, attempt }: Attempt): Finding | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // Whoever may not even read learns nothing else from this command.
    const severity = check === 'may-read' ? 'high' : 'low';
    return { check, severity, message: `may not ${what}`, hint: `it needs ${needs}`, evidence: [error.message] };
  }
}

function requireWritable(directory: string): void {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw fileError('write in', directory, cause);
  }
}

function nearestExisting(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}
