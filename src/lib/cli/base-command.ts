/** What all commands share: flags and where their values come from, output, signals. Reporting failures is main.ts's. */
import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import type {
  ArgInput,
  FlagInput,
  Input,
  LoadOptions,
  OutputArgs,
  OutputFlags,
  ParserOutput,
} from '@oclif/core/interfaces';
import type { ByteWriter } from '../output/byte-writer.ts';
import { FileWriter } from '../output/file-writer.ts';
import { createPaint } from '../output/paint.ts';
import { createSink, type Sink } from '../output/sink.ts';
import { scanArgv } from './argv-scan.ts';
import { type ForeignVariable, foreignVariable } from './foreign-environment.ts';
import type { ValueSource } from './layered-values.ts';
import type { Log } from './log.ts';
import { applyLogValues, outputOf } from './output-choice.ts';
import { parseLayered } from './parse-layered.ts';
import { runContextOf } from './run-context.ts';
import type { Runtime } from './runtime.ts';
import type { SharedValues } from './shared-flags.ts';
import { Interruption } from './signals.ts';
import { type CommandFacts, emptyFlag, unknownFlag, usageErrorOf } from './usage-error.ts';

type FlagOutput = OutputFlags<FlagInput>;
type ArgOutput = OutputArgs<ArgInput>;

export abstract class BaseCommand extends Command {
  /** True for a command that is stopped by a signal and has then done its work: it exits 0. */
  static readonly endsOnSignal: boolean = false;

  /** Where the value of each flag came from; filled by `parse()`. */
  protected valueSources: ReadonlyMap<string, ValueSource> = new Map();
  #interruption: Interruption | undefined;
  #shared: SharedValues | undefined;
  #out: ByteWriter | undefined;
  #sink: Sink | undefined;

  /** Values of the shared flags. Only after `parse()`. */
  protected get shared(): SharedValues {
    if (this.#shared === undefined) throw new Error(`${this.id} uses flags before it parsed them`);
    return this.#shared;
  }

  /** Standard output, or the file of --file. */
  protected get out(): ByteWriter {
    const { file } = this.shared;
    this.#out ??= file === undefined || file === '-' ? this.runtime.stdout : new FileWriter(file);
    return this.#out;
  }

  /** Prints models in the format that was asked for. */
  protected get sink(): Sink {
    this.#sink ??= createSink(this.shared.output, this.out, () => createPaint(this.coloured));
    return this.#sink;
  }

  /** Aborted by SIGINT or SIGTERM; a command that takes it must stop soon after. */
  protected get signal(): AbortSignal {
    if (this.#interruption === undefined) throw new Error(`${this.id} uses its signal before it parsed its flags`);
    return this.#interruption.signal;
  }

  /** Lines for standard error. */
  protected get logger(): Log {
    return runContextOf(this.config).log;
  }

  protected get runtime(): Runtime {
    return runContextOf(this.config).runtime;
  }

  /** Whether text output may use colours. */
  protected get coloured(): boolean {
    return this.out === this.runtime.stdout && this.runtime.stdoutIsTerminal && !this.foreign('NO_COLOR');
  }

  /** A variable of another program; those four are read and no others. @returns undefined when unset or empty */
  protected foreign(name: ForeignVariable): string | undefined {
    return foreignVariable(this.runtime.env, name);
  }

  /** oclif would load its configuration a second time here; the one that found the command is right. */
  static override async run<T extends Command>(
    this: new (
      argv: string[],
      config: Config,
    ) => T,
    argv: string[] = [],
    config?: LoadOptions,
  ): Promise<ReturnType<T['run']>> {
    const command = new this(argv, config as Config) as T & { _run(): Promise<ReturnType<T['run']>> };
    return command._run();
  }

  protected override async parse<F extends FlagOutput, B extends FlagOutput, A extends ArgOutput>(
    options: Input<F, B, A> = this.ctor as Input<F, B, A>,
    argv: string[] = this.argv,
  ): Promise<ParserOutput<F, B, A>> {
    const definitions: FlagInput = { ...options.flags, ...options.baseFlags };
    const facts = this.#facts(definitions);
    const scan = scanArgv(argv, definitions);
    const [unknown] = scan.unknown;
    if (unknown !== undefined) throw unknownFlag(unknown, facts);
    for (const [name, given] of scan.values) {
      if (given.includes('') && !('emptyIsNone' in (definitions[name] ?? {}))) throw emptyFlag(name, facts);
    }
    const layered = await parseLayered({
      command: this,
      definitions,
      scan,
      runtime: this.runtime,
      configFiles: runContextOf(this.config).configFiles,
    });
    this.valueSources = layered.sources;
    try {
      const flags = layered.definitions as FlagInput<F>;
      const parsed = await super.parse<F, B, A>({ ...options, flags, baseFlags: {} as FlagInput<B> }, argv);
      this.#use(parsed.flags as unknown as SharedValues, definitions);
      return parsed;
    } catch (error) {
      throw usageErrorOf(error, facts);
    }
  }

  /** Takes level and form of the log anew from where they are set, such as a config file that has changed. */
  protected async rereadLogValues(): Promise<void> {
    const { flags, baseFlags, args } = this.ctor as unknown as Input<FlagOutput, FlagOutput, ArgOutput>;
    const definitions: FlagInput = { ...flags, ...baseFlags };
    const { configFiles } = runContextOf(this.config);
    configFiles.clear();
    const scan = scanArgv(this.argv, definitions);
    const layered = await parseLayered({ command: this, definitions, scan, runtime: this.runtime, configFiles });
    const parsed = await super.parse({ flags: layered.definitions, baseFlags: {}, args: args ?? {} }, this.argv);
    applyLogValues(this.logger, { ...(parsed.flags as unknown as SharedValues), output: this.shared.output });
  }

  #use(values: SharedValues, definitions: FlagInput): void {
    this.#shared = { ...values, output: outputOf(values, definitions.output, this.valueSources.get('output')) };
    applyLogValues(this.logger, this.#shared);
    this.#interruption = new Interruption(this.runtime, () => this.#out?.abort());
  }

  #facts(definitions: FlagInput): CommandFacts {
    const name = this.id === undefined ? this.config.bin : `${this.config.bin} ${this.id}`;
    return { name, flags: Object.keys(definitions), argCount: Object.keys(this.ctor.args).length };
  }

  protected override async _run<T>(): Promise<T> {
    const result = await super._run<T>();
    const reason = this.#interruption?.reason;
    if (reason !== undefined && !(this.ctor as typeof BaseCommand).endsOnSignal) throw reason;
    return result;
  }

  /** After a signal an error is what the signal caused, unless the command promised to end well. */
  protected override async catch(error: Error): Promise<never> {
    if ((this.ctor as typeof BaseCommand).endsOnSignal) throw error;
    throw this.#interruption?.reason ?? error;
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#interruption?.stopWatching();
    if (error !== undefined || this.#interruption?.reason !== undefined) this.#out?.abort();
    else if (this.#shared !== undefined) await this.out.end();
  }

  /** oclif prints results by itself under its own --json; ours are printed by the sink. */
  override jsonEnabled(): boolean {
    return false;
  }

  override warn(input: Error | string): Error | string {
    this.logger.warn(typeof input === 'string' ? input : input.message);
    return input;
  }
}
