# Completion of ipc for bash: source <(ipc completion bash)
_ipc_commands='batch completion decode delete diff doctor dump encode gc get identity listen release restore set snapshot status'

# The flags of a command.
_ipc_flags() {
  case $1 in
    batch) echo '--bpffs --config --dry-run --file --json --keep-going --layout --log-format --log-level --map --output --quiet --state-dir --verbose' ;;
    completion) echo '--bpffs --config --file --json --layout --log-format --log-level --map --output --quiet --state-dir --verbose' ;;
    decode) echo '--bpffs --config --file --json --key --layout --log-format --log-level --map --output --quiet --state-dir --value --verbose' ;;
    delete) echo '--bpffs --config --dry-run --expect-identity --file --ignore-not-found --json --layout --log-format --log-level --map --output --override-owner --quiet --sole-writer --state-dir --verbose' ;;
    diff) echo '--allocator-state --as-agent --bpffs --by --config --fail-on --file --hold --html --ignore --json --layout --log-format --log-level --map --output --quiet --scope --state-dir --verbose --wait --within' ;;
    doctor) echo '--allocator-state --bpffs --config --fail-on --file --hold --json --layout --log-format --log-level --map --output --quiet --state-dir --verbose --wait' ;;
    dump) echo '--allocator-state --bpffs --cluster --config --contains --count --family --file --flag --identity --json --label --labels --no-labels --layout --limit --log-format --log-level --map --output --quiet --raw --scope --sort --state-dir --trailer --tunnel --verbose --within' ;;
    encode) echo '--bpffs --config --encrypt-key --file --flag --identity --json --layout --log-format --log-level --map --output --quiet --state-dir --tunnel --verbose' ;;
    gc) echo '--against --all-items --allocator-state --assume-gone --bpffs --config --confirm --dry-run --file --json --layout --log-format --log-level --map --max-delete --orphans --output --quiet --rate --socket --sole-writer --state-dir --timeout --tunnel --verbose' ;;
    get) echo '--against --allocator-state --bpffs --config --exact --file --history --json --labels --no-labels --layout --log-format --log-level --map --output --quiet --state-dir --timeout --verbose --why' ;;
    identity) echo '--allocator-state --bpffs --config --confirm --file --json --layout --log-format --log-level --map --orphans --output --policy --quiet --state-dir --unused --verbose' ;;
    listen) echo '--allow-gap --bpffs --cluster-id --cluster-name --config --file --gc-interval --grace-period --ipv4 --no-ipv4 --ipv6 --no-ipv6 --json --layout --log-format --log-level --map --map-flags --max-entries --metrics --monitor --no-restore --node-ipv4 --node-ipv6 --output --programs-will-reload --quiet --reassert --recreate --require-sync --socket --sole-writer --source --state-dir --stop-timeout --strict --underlay --verbose' ;;
    release) echo '--bpffs --claims --config --dry-run --file --grace-period --json --layout --log-format --log-level --map --now --output --quiet --sole-writer --state-dir --timeout --verbose --wait' ;;
    restore) echo '--all --all-items --allocator-state --as-agent --bpffs --config --dry-run --file --foreign --from --hand-over --include-guessed --ipv4 --no-ipv4 --ipv6 --no-ipv6 --json --layout --log-format --log-level --map --map-flags --max-age --max-entries --output --override-owner --prefer --programs-will-reload --quiet --recreate --skip-ingress --sole-writer --state-dir --to --verbose --write-allocator-state' ;;
    set) echo '--allow-gap --bpffs --config --create --dry-run --encrypt-key --expect-identity --file --flag --from-backup --identity --json --layout --log-format --log-level --map --output --override-owner --quiet --replace --sole-writer --state-dir --tunnel --verbose' ;;
    snapshot) echo '--allocator-state --bpffs --cluster-name --config --dry-run --file --force --from --json --keep --labels --no-labels --layout --log-format --log-level --map --output --quiet --redact --redact-key --state-dir --verbose' ;;
    status) echo '--bpffs --config --config-sources --file --json --layout --log-format --log-level --map --output --quiet --socket --state-dir --timeout --verbose' ;;
    *) echo '--help --version' ;;
  esac
}

# What follows a flag of a command: words, or @ and where they come from. Fails for a flag without a value.
_ipc_value() {
  case $1:$2 in
    *:--bpffs | *:--state-dir | *:--history) echo '@directories' ;;
    *:--config | *:--file | *:--allocator-state | *:--html | *:--from | *:--write-allocator-state | *:--from-backup | *:--redact-key) echo '@files' ;;
    *:--layout | *:--key | *:--value | *:--hold | *:--ignore | diff:--wait | *:--within | doctor:--wait | *:--cluster | *:--contains | *:--flag | *:--label | *:--limit | *:--tunnel | *:--encrypt-key | *:--against | *:--confirm | *:--max-delete | *:--rate | *:--socket | *:--timeout | *:--cluster-id | *:--cluster-name | *:--gc-interval | *:--grace-period | *:--map-flags | *:--max-entries | *:--metrics | *:--monitor | *:--node-ipv4 | *:--node-ipv6 | *:--require-sync | *:--source | *:--stop-timeout | *:--claims | *:--max-age | *:--to | *:--keep) echo '@nowhere' ;;
    *:--log-format) echo 'text json' ;;
    *:--log-level) echo 'error warn info debug' ;;
    *:--map | *:-m) echo '@map' ;;
    batch:--output | batch:-o | get:--output | get:-o) echo 'table json ndjson' ;;
    completion:--output | completion:-o) echo 'table' ;;
    decode:--output | decode:-o | identity:--output | identity:-o) echo 'table json ndjson csv' ;;
    *:--expect-identity | *:--identity) echo '@identity' ;;
    delete:--output | delete:-o | diff:--output | diff:-o | doctor:--output | doctor:-o | encode:--output | encode:-o | gc:--output | gc:-o | listen:--output | listen:-o | release:--output | release:-o | restore:--output | restore:-o | set:--output | set:-o | snapshot:--output | snapshot:-o | status:--output | status:-o) echo 'table json' ;;
    *:--by) echo 'numbers labels' ;;
    diff:--fail-on) echo 'cidr-label-lost renumbered relabelled removed added retunnelled rekeyed reflagged' ;;
    *:--scope) echo 'reserved global local remote-node unknown' ;;
    doctor:--fail-on) echo 'high medium low info' ;;
    *:--family) echo 'ipv4 ipv6' ;;
    dump:--output | dump:-o) echo 'table json ndjson csv cilium bpftool' ;;
    *:--sort) echo 'prefix identity' ;;
    *:--underlay) echo 'ipv4 ipv6 none' ;;
    *:--prefer) echo 'map checkpoint' ;;
    *) return 1 ;;
  esac
}

# What the arguments of a command are.
_ipc_args() {
  case $1 in
    batch) echo '@files' ;;
    completion) echo 'bash zsh fish' ;;
    diff) echo '@map' ;;
    identity) echo '@identity' ;;
    snapshot) echo '@files' ;;
    *) echo @nowhere ;;
  esac
}

_ipc() {
  local cur head='' value flag='' cmd='' word candidates break=''
  local -a words=()
  local i
  # Readline takes = and : for the end of a word: put together again what belongs together.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 1)) && [[ $word =~ ^[=:]+$ || ${COMP_WORDS[i - 1]} =~ ^[=:]+$ ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${words[-1]}
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    word=${words[i]}
    if [[ $word != -* ]]; then
      [[ $cmd ]] || cmd=$word
    elif [[ $word != *=* ]] && _ipc_value "$cmd" "$word" >/dev/null; then
      ((++i))
    fi
  done
  COMPREPLY=()
  if [[ $cur == --*=* ]]; then
    flag=${cur%%=*} head=${cur%%=*}= value=${cur#*=}
  else
    value=$cur
    ((${#words[@]} > 2)) && [[ ${words[-2]} == -* && ${words[-2]} != *=* ]] && flag=${words[-2]}
    [[ $flag ]] && ! _ipc_value "$cmd" "$flag" >/dev/null && flag=''
  fi
  if [[ $flag ]]; then
    candidates=$(_ipc_value "$cmd" "$flag") || return 0
    # The last one of a comma list.
    [[ $value == *,* ]] && head+=${value%,*}, value=${value##*,}
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
  [[ $break && $whole == *[$break]* ]] && strip=${whole%"${whole##*[$break]}"}
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
    @map | @identity) candidates=$("${COMP_WORDS[0]}" completion --values "${candidates#@}" 2>/dev/null | cut -f 1) ;;
    @*) return 0 ;;
  esac
  for word in $candidates; do
    [[ $word == "$value"* ]] || continue
    word=$head$word
    COMPREPLY+=("${word:${#strip}}")
  done
}

complete -F _ipc ipc
