/** The completion script for bash, which needs nothing but bash 4.3. */
import type { CompletedCommand, CompletedFlag, Completion } from './model.ts';

/** @returns the text of a script that is sourced */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# Completion of ipc for bash: source <(ipc completion bash)
_ipc_commands='${commands.map(({ id }) => id).join(' ')}'

# The flags of a command.
_ipc_flags() {
  case $1 in
${commands.map(({ id, flags }) => `    ${id}) echo '${flags.flatMap(spellings).join(' ')}' ;;`).join('\n')}
    *) echo '--help --version' ;;
  esac
}

# What follows a flag of a command: words, or @ and where they come from. Fails for a flag without a value.
_ipc_value() {
  case $1:$2 in
${valueCases(commands).join('\n')}
    *) return 1 ;;
  esac
}

# What the arguments of a command are.
_ipc_args() {
  case $1 in
${argCases(commands).join('\n')}
    *) echo @nowhere ;;
  esac
}

${MACHINERY}`;
}

function spellings({ name, negatable }: CompletedFlag): string[] {
  return negatable ? [`--${name}`, `--no-${name}`] : [`--${name}`];
}

/** One case for all flags with the same values; a flag that is the same everywhere is that of any command. */
function valueCases(commands: readonly CompletedCommand[]): string[] {
  const patterns = new Map<string, string[]>();
  const everywhere = new Map<string, Set<string>>();
  for (const { flags } of commands) {
    for (const { name, value } of flags) {
      everywhere.set(name, (everywhere.get(name) ?? new Set()).add(value ? shown(value) : ''));
    }
  }
  const add = (value: Completion, pattern: string): void => {
    const list = patterns.get(shown(value)) ?? [];
    if (!list.includes(pattern)) patterns.set(shown(value), [...list, pattern]);
  };
  for (const { id, flags } of commands) {
    for (const { name, char, value } of flags) {
      if (value === undefined) continue;
      const command = everywhere.get(name)?.size === 1 ? '*' : id;
      add(value, `${command}:--${name}`);
      if (char !== undefined) add(value, `${command}:-${char}`);
    }
  }
  return [...patterns].map(([value, list]) => `    ${list.join(' | ')}) echo '${value}' ;;`);
}

function argCases(commands: readonly CompletedCommand[]): string[] {
  return commands
    .filter(({ args }) => args.from !== 'nowhere')
    .map(({ id, args }) => `    ${id}) echo '${shown(args)}' ;;`);
}

function shown(value: Completion): string {
  switch (value.from) {
    case 'words':
      return value.words.join(' ');
    case 'program':
      return `@${value.what}`;
    default:
      return `@${value.from}`;
  }
}

const MACHINERY = String.raw`_ipc() {
  local cur head='' value flag='' cmd='' word candidates break=''
  local -a words=()
  local i
  # Readline takes = and : for the end of a word: put together again what belongs together.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word =~ ^[=:]+$ || \${COMP_WORDS[i - 1]} =~ ^[=:]+$ ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=\${words[-1]}
  for ((i = 1; i < \${#words[@]} - 1; i++)); do
    word=\${words[i]}
    if [[ $word != -* ]]; then
      [[ $cmd ]] || cmd=$word
    elif [[ $word != *=* ]] && _ipc_value "$cmd" "$word" >/dev/null; then
      ((++i))
    fi
  done
  COMPREPLY=()
  if [[ $cur == --*=* ]]; then
    flag=\${cur%%=*} head=\${cur%%=*}= value=\${cur#*=}
  else
    value=$cur
    ((\${#words[@]} > 2)) && [[ \${words[-2]} == -* && \${words[-2]} != *=* ]] && flag=\${words[-2]}
    [[ $flag ]] && ! _ipc_value "$cmd" "$flag" >/dev/null && flag=''
  fi
  if [[ $flag ]]; then
    candidates=$(_ipc_value "$cmd" "$flag") || return 0
    # The last one of a comma list.
    [[ $value == *,* ]] && head+=\${value%,*}, value=\${value##*,}
  elif [[ $cur == -* ]]; then
    candidates=$(_ipc_flags "$cmd")
  elif [[ ! $cmd ]]; then
    candidates=$_ipc_commands
  else
    candidates=$(_ipc_args "$cmd")
  fi
  # Readline replaces only what comes behind the last = or : of the word.
  [[ $COMP_WORDBREAKS == *=* ]] && break+='='
  [[ $COMP_WORDBREAKS == *:* ]] && break+=':'
  local whole=$head$value strip=''
  [[ $break && $whole == *[$break]* ]] && strip=\${whole%"\${whole##*[$break]}"}
  case $candidates in
    @nowhere) return 0 ;;
    @files | @directories | @map)
      [[ $candidates == @directories ]] && local kind=-d || local kind=-f
      if [[ ! $strip || $strip == "$head" ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen $kind -- "$value")
      fi
      ;;
  esac
  case $candidates in
    @map | @identity) candidates=$("\${COMP_WORDS[0]}" completion --values "\${candidates#@}" 2>/dev/null | cut -f 1) ;;
    @*) return 0 ;;
  esac
  for word in $candidates; do
    [[ $word == "$value"* ]] || continue
    word=$head$word
    COMPREPLY+=("\${word:\${#strip}}")
  done
}

complete -F _ipc ipc
`.replaceAll('\\${', '${');
