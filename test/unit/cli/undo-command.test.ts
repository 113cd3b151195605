import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { undoCommand } from '../../../src/lib/cli/undo-command.ts';

const MAP = { id: 7, pin: '/sys/fs/bpf/x', layout: 'v2', owner: 'nobody', programs: 0 } as const;
const DEFAULTS = { shared: { 'state-dir': '/var/lib/ipc', layout: undefined }, soleWriter: false };

describe('undoCommand()', () => {
  it('names the map, and nothing that is the default', () => {
    expect(undoCommand('/b.ndjson', MAP, DEFAULTS)).toBe('ipc set --from-backup /b.ndjson --map /sys/fs/bpf/x');
    const { pin: _, ...unpinned } = MAP;
    expect(undoCommand('/b.ndjson', unpinned, DEFAULTS)).toBe('ipc set --from-backup /b.ndjson --map id:7');
  });

  it('has the flags without which it would be refused', () => {
    const flags = { shared: { 'state-dir': '/s', layout: 'v1' }, soleWriter: true };
    expect(undoCommand('/b', { ...MAP, owner: 'agent' }, flags)).toBe(
      'ipc set --from-backup /b --map /sys/fs/bpf/x --state-dir /s --layout v1 --override-owner --sole-writer',
    );
  });

  it('is what a shell reads back', () => {
    const backup = "/a b/it's $HOME.ndjson";
    const command = undoCommand(backup, MAP, DEFAULTS).replace(/^ipc set/, "printf '%s\\n'");
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\n')[1]).toBe(backup);
  });
});
