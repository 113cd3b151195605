/** The completion script for fish. */
import type { CompletedCommand, CompletedFlag, Completion } from './model.ts';

/** @returns the text of a script that is sourced or stands in a directory of completions */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return `# Completion of ipc for fish: ipc completion fish | source
function __ipc_values
    ipc completion --values $argv[1] 2>/dev/null
end

complete -c ipc -f
${commands.map(({ id, summary }) => `complete -c ipc -n __fish_use_subcommand -a ${id} -d ${quoted(summary)}`).join('\n')}
${commands.map(commandLines).join('\n')}
`;
}

function commandLines({ id, flags, args }: CompletedCommand): string {
  const condition = `-n '__fish_seen_subcommand_from ${id}'`;
  const lines = flags.flatMap((flag) => flagLines(condition, flag));
  if (args.from !== 'nowhere') lines.push(`complete -c ipc ${condition} ${takes(args).replace(/^-[xr] /, '')}`);
  return ['', `# ${id}`, ...lines].join('\n');
}

function flagLines(condition: string, flag: CompletedFlag): string[] {
  const { name, char, summary, negatable, value } = flag;
  const words = ['complete -c ipc', condition, `-l ${name}`];
  if (char !== undefined) words.push(`-s ${char}`);
  if (value !== undefined) words.push(takes(value));
  words.push(`-d ${quoted(summary)}`);
  const negative = `complete -c ipc ${condition} -l no-${name} -d ${quoted(`not: ${summary}`)}`;
  return negatable ? [words.join(' '), negative] : [words.join(' ')];
}

function takes(value: Completion): string {
  switch (value.from) {
    case 'words':
      return `-x -a ${quoted(value.words.join(' '))}`;
    case 'program':
      return value.what === 'map' ? `-r -F -a '(__ipc_values map)'` : `-x -a '(__ipc_values ${value.what})'`;
    case 'files':
      return '-r -F';
    case 'directories':
      return `-x -a '(__fish_complete_directories)'`;
    case 'nowhere':
      return '-x';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
