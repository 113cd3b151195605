#compdef ipc
# Completion of ipc for zsh: ipc completion zsh > a file _ipc in $fpath

# Words that only the program knows, with what they are.
_ipc_values() {
  local -a values
  values=(${(f)"$(${words_program:-ipc} completion --values $1 2>/dev/null)"})
  values=(${${values//:/\\:}/$'\t'/:})
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
    'batch:run many commands in one process, one a line'
    'completion:print the script that completes commands, flags and values in a shell'
    'decode:show what the bytes of a key and a value mean'
    'delete:delete entries by their prefix'
    'diff:compare two snapshots, two maps, or one with the other'
    'doctor:say what is wrong with the ipcache of this node'
    'dump:list the entries of the ipcache map'
    'encode:print the bytes of an entry'
    'gc:delete what the desired state has not'
    'get:show what the kernel finds for an address, and what that hides'
    'identity:which labels a number has, which numbers a label, and what uses them'
    'listen:feed a map of its own from sources, and keep its numbers'
    'release:end the reservations of the last restore'
    'restore:keep the numbers of local identities over a restart, an upgrade or a move to another map'
    'set:write one entry'
    'snapshot:write the map with its labels to a file, to compare or to restore from'
    'status:say what the last restore did, what will be released when, and whether all is ready'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
    batch)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '(-n --dry-run)'{-n,--dry-run}'[give --dry-run to every command that has it]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--keep-going[go on after a command that failed]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json ndjson)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '*:argument:_files'
      ;;
    completion)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '*:argument:(bash zsh fish)'
      ;;
    decode)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--key=[bytes of a key]:HEX:' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json ndjson csv)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--value=[bytes of a value]:HEX:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    delete)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '(-n --dry-run)'{-n,--dry-run}'[show what would go and delete nothing]' \
        '--expect-identity=[refuse unless every entry has this identity now]:IDENTITY:_ipc_identity' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--ignore-not-found[pass over what is missing]' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '--override-owner[write although an agent owns the map and will not know of it]' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    diff)
      _arguments -s \
        '--allocator-state=[allocator checkpoint that labels are joined from (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--as-agent[of A alone\: what an agent will renumber or lose at its next start]' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--by=[numbers\: two moments of one node; labels\: what two nodes see]:BY:(numbers labels)' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '*--fail-on=[what makes the exit status 10]:FAIL-ON:_values -s , fail-on cidr-label-lost renumbered relabelled removed added retunnelled rekeyed reflagged' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--hold=[then it must stay so for so long]:D:' \
        '--html=[write the report as one page to FILE too]:FILE:_files' \
        '*--ignore=[a class of changes, a prefix with all inside of it, or an identity]:WHAT:' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '*--scope=[scope of the identity]:SCOPE:_values -s , scope reserved global local remote-node unknown' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '--wait=[repeat until there is nothing of it, at most so long]:D:' \
        '*--within=[entries inside of PREFIX]:PREFIX:' \
        '*:argument:_ipc_map'
      ;;
    doctor)
      _arguments -s \
        '--allocator-state=[the agent'\''s allocator checkpoint]:FILE:_files' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '*--fail-on=[what makes the exit status 10]:FAIL-ON:_values -s , fail-on high medium low info' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--hold=[then it must stay so for so long]:D:' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '--wait=[repeat until there is nothing of it, at most so long]:D:'
      ;;
    dump)
      _arguments -s \
        '--allocator-state=[allocator checkpoint that labels are joined from (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '*--cluster=[cluster ID; 0 is the local one]:ID:' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '*--contains=[entries that cover PREFIX]:PREFIX:' \
        '--count[print the number of entries only]' \
        '*--family=[address family]:FAMILY:_values -s , family ipv4 ipv6' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '*--flag=[entries with this flag set]:FLAG:' \
        '*--identity=[entries with this number or name]:IDENTITY:_ipc_identity' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '*--label=[entries whose identity has this label]:LABEL:' \
        '--labels[join labels]' \
        '--no-labels[not: join labels]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--limit=[stop after N entries]:N:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json ndjson csv cilium bpftool)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--raw[print the bytes of key and value too]' \
        '*--scope=[scope of the identity]:SCOPE:_values -s , scope reserved global local remote-node unknown' \
        '--sort=[order of the rows; needs 60 bytes of memory an entry]:SORT:(prefix identity)' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--trailer[with -o ndjson\: a last line that says whether the walk was complete]' \
        '*--tunnel=[tunnel endpoint, or none]:ADDR:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '*--within=[entries inside of PREFIX]:PREFIX:'
      ;;
    encode)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--encrypt-key=[IPsec key, 0 for none]:KEY:' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '*--flag=[flag to set, by name or as a number such as 0x80]:FLAG:' \
        '--identity=[number, or name of a reserved identity]:IDENTITY:_ipc_identity' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--tunnel=[address of the node that the prefix is reached through]:ADDR:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    gc)
      _arguments -s \
        '--against=[source that has the desired state\: agent, listen, snapshot\:FILE, ndjson\:FILE … (default\: the running ipc listen)]:SOURCE:' \
        '--all-items[list also what a rule keeps, and every delete]' \
        '--allocator-state=[checkpoint that --orphans compares with (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--assume-gone[with --tunnel\: the node is gone, no source is asked]' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--confirm=[time between the two readings]:D:' \
        '(-n --dry-run)'{-n,--dry-run}'[read twice, say what would go, delete nothing]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '--max-delete=[the most that may go within an hour\: share of what is judged, or number of entries]:P%|N:' \
        '--orphans[delete local identities that no checkpoint knows]' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--rate=[deletes a second at most]:N:' \
        '--socket=[control socket of the running ipc listen; empty for none]:PATH:' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--timeout=[how long a source may take to be complete]:D:' \
        '*--tunnel=[only entries of the node with this address]:ADDR:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    get)
      _arguments -s \
        '--against=[with --why\: ask agent\[\:SOCKET\] or listen\[\:SOCKET\]]:SOURCE:' \
        '--allocator-state=[allocator checkpoint that labels are joined from (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--exact[match the entry of exactly this prefix only]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--history=[with --why\: look into the snapshots of DIR]:DIR:_files -/' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--labels[join labels]' \
        '--no-labels[not: join labels]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json ndjson)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--timeout=[how long an agent may take to answer]:D:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '--why[say where the entry comes from and since when it is so]'
      ;;
    identity)
      _arguments -s \
        '--allocator-state=[allocator checkpoint that labels are joined from (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--confirm=[with --orphans\: time between the readings]:D:' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '--orphans[local numbers of the map that no checkpoint knows, in two readings]' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json ndjson csv)' \
        '--policy[list the entries of policy maps that have the number]' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--unused[numbers of the checkpoints that are not in the map]' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '*:argument:_ipc_identity'
      ;;
    listen)
      _arguments -s \
        '--allow-gap[where a full map cannot be changed in place, delete the entry and write it again]' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--cluster-id=[ID of this cluster, 0 when it has none]:ID:' \
        '--cluster-name=[name of this cluster, for ipc status]:NAME:' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--gc-interval=[how often entries that no source has are collected; 0\: never]:D:' \
        '--grace-period=[how long restored numbers are kept once all sources are complete]:D:' \
        '--ipv4[IPv4 is enabled]' \
        '--no-ipv4[not: IPv4 is enabled]' \
        '--ipv6[IPv6 is enabled]' \
        '--no-ipv6[not: IPv6 is enabled]' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '--map-flags=[BPF_F_* flags of a new map, as a number]:FLAGS:' \
        '--max-entries=[size of a new map]:N:' \
        '--metrics=[serve Prometheus metrics, /healthz and /readyz there]:\[ADDR\]\:PORT:' \
        '--monitor=[tell every change once it is written\: ndjson\:-, ndjson\:FILE or unix\:PATH]:TARGET:' \
        '--no-restore[begin with nothing\: numbers may change]' \
        '--node-ipv4=[IPv4 address of this node]:ADDR:' \
        '--node-ipv6=[IPv6 address of this node]:ADDR:' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '--programs-will-reload[replace the map although programs or processes hold the old one]' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--reassert[write again what somebody else changed]' \
        '--recreate[fill a new map and rename its pin over the old one]' \
        '--require-sync=[end with 8 when the sources are not complete after so long]:D:' \
        '--socket=[control socket; empty for none]:PATH:' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '*--source=[where addresses and identities come from\: ndjson\:-|PATH, unix\:PATH, snapshot\:PATH]:SOURCE:' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--stop-timeout=[how long the end may take until the rest is remembered as pending]:D:' \
        '--strict[end with 9 at the first line that is no event]' \
        '--underlay=[family of the packets that carry the tunnel; none\: no tunnels]:UNDERLAY:(ipv4 ipv6 none)' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    release)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '*--claims=[source that says which prefixes are wanted (ndjson\:, agent, listen, snapshot\: …)]:SOURCE:' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '(-n --dry-run)'{-n,--dry-run}'[show the plan and change nothing]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--grace-period=[how long after the restore (default\: 30s, 10m with a kvstore source)]:D:' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '--now[do not wait for it]' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--timeout=[how long a source may take to be complete]:D:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '--wait[wait for the end of the grace period]'
      ;;
    restore)
      _arguments -s \
        '--all[carry over every entry, also what an agent would announce again]' \
        '--all-items[list what stays and what rules skip, entry by entry]' \
        '--allocator-state=[the agent'\''s allocator checkpoint (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--as-agent[show what an agent that starts now would make of it, and change nothing]' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '(-n --dry-run)'{-n,--dry-run}'[show the plan and change nothing]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--foreign[the snapshot may be of another machine]' \
        '--from=[read this snapshot instead of the map (- is standard input)]:FILE:_files' \
        '--hand-over[prepare for an agent that starts next\: no placeholders are kept]' \
        '--include-guessed[write labels that were only guessed too]' \
        '--ipv4[IPv4 is enabled]' \
        '--no-ipv4[not: IPv4 is enabled]' \
        '--ipv6[IPv6 is enabled]' \
        '--no-ipv6[not: IPv6 is enabled]' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '--map-flags=[BPF_F_* flags of a new map, as a number]:FLAGS:' \
        '--max-age=[how old a snapshot may be that is put onto a map that is there]:D:' \
        '--max-entries=[size of a new map]:N:' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '--override-owner[write although an agent owns the map and will not know of it]' \
        '--prefer=[whose number stays where both have one; checkpoint renumbers entries that are there]:PREFER:(map checkpoint)' \
        '--programs-will-reload[replace the map although programs or processes hold the old one]' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--recreate[fill a new map, compare it, and rename its pin over the old one]' \
        '--skip-ingress[leave out ingress addresses, as agents with delegated IPAM do]' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--to=[write to this pin, and make it if it is missing]:PIN:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '--write-allocator-state=[write the agent'\''s checkpoint, if that loses nothing]:FILE:_files'
      ;;
    set)
      _arguments -s \
        '--allow-gap[where a full map cannot be changed in place, delete the entry and write it again]' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--create[refuse if there is an entry]' \
        '(-n --dry-run)'{-n,--dry-run}'[show the bytes and write nothing]' \
        '--encrypt-key=[IPsec key, 0 for none]:KEY:' \
        '--expect-identity=[refuse unless the entry has this identity now]:IDENTITY:_ipc_identity' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '*--flag=[flag to set, by name or as a number]:FLAG:' \
        '--from-backup=[put back what this backup has and the map lacks]:FILE:_files' \
        '--identity=[number, or name of a reserved identity]:IDENTITY:_ipc_identity' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '--override-owner[write although an agent owns the map and will not know of it]' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--replace[refuse unless there is an entry]' \
        '--sole-writer[say that nothing out of sight writes this map, where processes or programs cannot be seen]' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--tunnel=[address of the node that the prefix is reached through]:ADDR:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
    snapshot)
      _arguments -s \
        '--allocator-state=[allocator checkpoint that labels are joined from (default\: /var/run/cilium/state/local_allocator_state.json)]:FILE:_files' \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--cluster-name=[name of the cluster, for the header]:NAME:' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '(-n --dry-run)'{-n,--dry-run}'[report only, write nothing]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '--force[replace a snapshot although the new one has far less]' \
        '--from=[convert another snapshot instead of reading the map]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--keep=[FILE is a directory\: write a new snapshot into it and keep the newest N]:N:' \
        '--labels[join labels]' \
        '--no-labels[not: join labels]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--redact[replace addresses, label values and names, with the key of the state directory]' \
        '--redact-key=[as --redact, with the key in FILE]:FILE:_files' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]' \
        '*:argument:_files'
      ;;
    status)
      _arguments -s \
        '--bpffs=[where the BPF file system is mounted]:DIR:_files -/' \
        '--config=[config file instead of /etc/ipc/config.yaml]:FILE:_files' \
        '--config-sources[list every value of a flag and where it comes from]' \
        '--file=[write the result to FILE, complete or not at all]:FILE:_files' \
        '(-j --json)'{-j,--json}'[same as -o json; errors and warnings become JSON too]' \
        '--layout=[layout of keys and values, instead of recognising it]:NAME:' \
        '--log-format=[form of the lines on stderr]:LOG-FORMAT:(text json)' \
        '--log-level=[least important line on stderr]:LOG-LEVEL:(error warn info debug)' \
        '(-m --map)'{-m+,--map=}'[pin on bpffs, id\:N, name\:NAME or datapath; by default the pin is looked for]:MAP:_ipc_map' \
        '(-o --output)'{-o+,--output=}'[format of the result]:OUTPUT:(table json)' \
        '(-q --quiet)'{-q,--quiet}'[print errors and the result only]' \
        '--socket=[control socket of ipc listen; empty for none]:PATH:' \
        '--state-dir=[where ipc keeps its state]:DIR:_files -/' \
        '--timeout=[how long the loop may take to answer]:D:' \
        '(-v --verbose)'{-v,--verbose}'[print what is done, and stack traces]'
      ;;
  esac
}

if [[ $funcstack[1] == _ipc ]]; then
  _ipc "$@"
else
  compdef _ipc ipc
fi
