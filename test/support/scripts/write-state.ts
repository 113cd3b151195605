/** Writes a backup and then a checkpoint: `node write-state.cjs DIRECTORY PIN GENERATION`. */
import { writeBackup } from '../../../src/lib/state/backup.ts';
import { openState } from '../../../src/lib/state/state.ts';
import { stateGeneration } from '../state-generation.ts';

async function main(): Promise<void> {
  const [directory = '', pin = '', number = '1'] = process.argv.slice(2);
  using state = openState({ directory, pin });
  const checkpoint = stateGeneration(pin, Number(number));
  const header = { time: checkpoint.time, command: 'gc', bootId: 'boot', map: { id: 1, layout: 'v2' } };
  await writeBackup(state.lock, header, [{ key: Uint8Array.of(Number(number)), before: Uint8Array.of(1) }]);
  await state.write(checkpoint);
  process.stdout.write('done\n');
}

void main();
