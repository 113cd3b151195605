/**
 * The program as oclif's one plugin. oclif would look for the commands on disk; ours are in the bundle already, and what
 * help and completion say about them is in the manifest beside it, which is read only when somebody asks.
 */
import type { Command } from '@oclif/core/command';
import type { PJSON, Plugin } from '@oclif/core/interfaces';

/** Command classes by name; reading a property loads the command. */
export type CommandRegistry = Readonly<Record<string, Command.Class>>;

export interface Program {
  /** The folder that holds package.json. */
  readonly root: string;
  readonly pjson: PJSON;
  readonly commands: CommandRegistry;
  /** What the manifest says of a command, for help and for names in the config file. */
  describe(id: string): Partial<Command.Cached>;
}

/** @returns what `new Config({ plugins })` takes */
export function programPlugin({ root, pjson, commands, describe }: Program): Plugin {
  const load = async (id: string): Promise<Command.Class> => {
    const command = commands[id];
    if (command === undefined) throw new Error(`no command ${id}`);
    command.id = id;
    return command;
  };
  const ids = Object.keys(commands);
  return {
    _base: '',
    alias: pjson.name,
    commandIDs: ids,
    commands: ids.map((id) => loadable(id, describe, load)),
    commandsDir: undefined,
    findCommand: load,
    hasManifest: true,
    hooks: {},
    isRoot: true,
    load: async () => {},
    moduleType: 'module',
    name: pjson.name,
    options: { root },
    pjson,
    root,
    // A topic for each command keeps oclif from reading every summary to make one.
    topics: ids.map((name) => ({ name })),
    type: 'core',
    valid: true,
    version: pjson.version,
  };
}

/** What oclif knows of a command before it is loaded; what is in the manifest is read when it is looked at. */
function loadable(
  id: string,
  describe: Program['describe'],
  load: (id: string) => Promise<Command.Class>,
): Command.Loadable {
  return {
    id,
    aliases: [],
    hiddenAliases: [],
    hidden: false,
    permutations: [id],
    load: () => load(id),
    get args() {
      return describe(id).args ?? {};
    },
    get flags() {
      return describe(id).flags ?? {};
    },
    get summary() {
      return describe(id).summary;
    },
    get description() {
      return describe(id).description;
    },
    get examples() {
      return describe(id).examples;
    },
    get usage() {
      return describe(id).usage;
    },
    get strict() {
      return describe(id).strict;
    },
  };
}
