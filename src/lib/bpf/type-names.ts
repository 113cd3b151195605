/** Names of enum bpf_map_type and enum bpf_prog_type, spelled as bpftool does. */

const MAP_TYPES = (
  'unspec hash array prog_array perf_event_array percpu_hash percpu_array stack_trace cgroup_array lru_hash ' +
  'lru_percpu_hash lpm_trie array_of_maps hash_of_maps devmap sockmap cpumap xskmap sockhash cgroup_storage ' +
  'reuseport_sockarray percpu_cgroup_storage queue stack sk_storage devmap_hash struct_ops ringbuf inode_storage ' +
  'task_storage bloom_filter user_ringbuf cgrp_storage arena'
).split(' ');

const PROGRAM_TYPES = (
  'unspec socket_filter kprobe sched_cls sched_act tracepoint xdp perf_event cgroup_skb cgroup_sock lwt_in lwt_out ' +
  'lwt_xmit sock_ops sk_skb cgroup_device sk_msg raw_tracepoint cgroup_sock_addr lwt_seg6local lirc_mode2 ' +
  'sk_reuseport flow_dissector cgroup_sysctl raw_tracepoint_writable cgroup_sockopt tracing struct_ops ext lsm ' +
  'sk_lookup syscall netfilter'
).split(' ');

/** `lpm_trie` for 11; `type 99` for one that has no name here. */
export function mapTypeName(type: number): string {
  return MAP_TYPES[type] ?? `type ${type}`;
}

/** `sched_cls` for 3; `type 99` for one that has no name here. */
export function programTypeName(type: number): string {
  return PROGRAM_TYPES[type] ?? `type ${type}`;
}
