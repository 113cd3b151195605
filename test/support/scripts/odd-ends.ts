/** A program whose command ends in the way that --map names, for tests of what watches over the process. */
import { BaseCommand } from '../../../src/lib/cli/base-command.ts';
import { start } from '../../../src/lib/cli/main.ts';
import { sharedFlags } from '../../../src/lib/cli/shared-flags.ts';

const WAYS: Readonly<Record<string, () => unknown>> = {
  'never settles': () => new Promise(() => {}),
  'throws in a callback': () =>
    new Promise(() => {
      setTimeout(() => {
        throw new TypeError('late');
      }, 1);
    }),
  'rejects unseen': () => {
    void Promise.reject(new TypeError('unseen'));
    return new Promise((resolve) => setTimeout(resolve, 1_000));
  },
  'warns through Node': () => {
    process.emitWarning('old');
    return new Promise((resolve) => setTimeout(resolve, 10));
  },
  'leaves a handle open': () => {
    setInterval(() => {}, 1_000);
  },
};

class Odd extends BaseCommand {
  static override baseFlags = sharedFlags({ outputs: ['table', 'json'] });

  async run(): Promise<void> {
    const { flags } = await this.parse(Odd);
    await WAYS[flags.map ?? '']?.();
    this.out.write(Buffer.from('"done"\n'));
  }
}

void start('/nonexistent', { odd: Odd as never }, process.argv.slice(2));
