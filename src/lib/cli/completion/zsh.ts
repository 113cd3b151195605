/** The completion script for zsh, to be a file _ipc in $fpath or to be sourced after compinit. */
import type { CompletedCommand, CompletedFlag, Completion } from './model.ts';

/** @returns the text of the script */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef ipc
# Completion of ipc for zsh: ipc completion zsh > a file _ipc in $fpath

# Words that only the program knows, with what they are.
_ipc_values() {
  local -a values
  values=(\${(f)"$(\${words_program:-ipc} completion --values $1 2>/dev/null)"})
  values=(\${\${values//:/\\\\:}/$'\\t'/:})
  _describe "$1" values
}

_ipc_map() {
  _alternative 'maps:map: _ipc_values map' 'files:file:_files'
}

_ipc_identity() {
  _ipc_values identity
}

_ipc() {
  local words_program=$words[1] curcontext=$curcontext
  local -a commands
  local -A opt_args
  commands=(
${commands.map(({ id, summary }) => `    ${quoted(`${id}:${summary}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}

if [[ $funcstack[1] == _ipc ]]; then
  _ipc "$@"
else
  compdef _ipc ipc
fi
`;
}

function commandCase({ id, flags, args }: CompletedCommand): string {
  const specs = [
    ...flags.flatMap(flagSpecs),
    ...(args.from === 'nowhere' ? [] : [quoted(`*:argument:${action(args)}`)]),
  ];
  return `    ${id})\n      _arguments -s \\\n        ${specs.join(' \\\n        ')}\n      ;;`;
}

function flagSpecs(flag: CompletedFlag): string[] {
  const { name, char, summary, negatable, repeatable, value, valueName } = flag;
  const rest = `[${escaped(summary)}]${value ? `:${escaped(valueName)}:${action(value, repeatable ? name : undefined)}` : ''}`;
  const long = value ? `--${name}=` : `--${name}`;
  const star = repeatable ? '*' : '';
  const negative = negatable ? [quoted(`--no-${name}[not: ${escaped(summary)}]`)] : [];
  if (char === undefined) return [quoted(`${star}${long}${rest}`), ...negative];
  const short = value ? `-${char}+` : `-${char}`;
  return [`${quoted(repeatable ? '*' : `(-${char} --${name})`)}{${short},${long}}${quoted(rest)}`, ...negative];
}

/** @param list the name of a comma list */
function action(value: Completion, list?: string): string {
  switch (value.from) {
    case 'words':
      return list === undefined ? `(${value.words.join(' ')})` : `_values -s , ${list} ${value.words.join(' ')}`;
    case 'program':
      return `_ipc_${value.what}`;
    case 'files':
      return '_files';
    case 'directories':
      return '_files -/';
    case 'nowhere':
      return '';
  }
}

function escaped(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
