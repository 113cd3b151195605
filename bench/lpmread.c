// The yardstick of `ipc dump`: reads a pinned ipcache map of 24-byte values in batches and prints, in the kernel's order,
// the bytes that `ipc dump --json --no-labels` prints for the same map. With -n it reads and prints nothing.
//   cc -O2 -o lpmread lpmread.c && ./lpmread /sys/fs/bpf/tc/globals/cilium_ipcache_v2 > entries.json
#include "bpf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define BATCH_ENTRIES 4096

static struct ipcache_key keys[BATCH_ENTRIES];
static struct remote_endpoint_info values[BATCH_ENTRIES];

static const char *scope_of(uint32_t identity) {
  switch (identity >> 24) {
  case 0:
    return identity < 256 ? "reserved" : "global";
  case 1:
    return "local";
  case 2:
    return "remote-node";
  default:
    return "unknown";
  }
}

static void print_flags(uint8_t flags) {
  static const char *const names[] = {"skiptunnel", "hastunnel", "ipv6tunnel", "remotecluster"};
  bool first = true;
  fputs(",\"flags\":[", stdout);
  for (unsigned bit = 0; bit < 4; bit++) {
    if (!(flags >> bit & 1))
      continue;
    printf("%s\"%s\"", first ? "" : ",", names[bit]);
    first = false;
  }
  if (flags & ~KNOWN_FLAGS)
    printf("%s\"0x%x\"", first ? "" : ",", flags & ~KNOWN_FLAGS & 0xff);
  putchar(']');
}

static void print_entry(const struct ipcache_key *key, const struct remote_endpoint_info *info) {
  const bool ipv4 = key->family == FAMILY_IPV4;
  char text[INET6_ADDRSTRLEN];
  printf("{\"prefix\":\"%s/%u", inet_ntop(ipv4 ? AF_INET : AF_INET6, key->address, text, sizeof text),
         key->prefixlen - STATIC_PREFIX_BITS);
  if (key->cluster_id)
    printf("@%u\",\"clusterId\":%u", key->cluster_id, key->cluster_id);
  else
    putchar('"');
  printf(",\"family\":\"%s\",\"identity\":%u,\"scope\":\"%s\"", ipv4 ? "ipv4" : "ipv6", info->identity,
         scope_of(info->identity));
  if (info->flags & HASTUNNEL) {
    const int family = info->flags & IPV6TUNNEL ? AF_INET6 : AF_INET;
    printf(",\"tunnelEndpoint\":\"%s\"", inet_ntop(family, info->tunnel_endpoint, text, sizeof text));
  }
  printf(",\"encryptKey\":%u", info->encrypt_key);
  print_flags(info->flags);
  putchar('}');
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: lpmread PIN [-n]\n");
    return 2;
  }
  const bool quiet = argc == 3;
  union bpf_attr open_pin = {.pathname = (uintptr_t)argv[1], .file_flags = BPF_F_RDONLY};
  const int map = bpf(BPF_OBJ_GET, &open_pin);
  if (map < 0) {
    perror(argv[1]);
    return 1;
  }
  static char buffer[1 << 20];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);

  struct ipcache_key cursors[2];
  unsigned long entries = 0;
  bool more = true;
  if (!quiet)
    putchar('[');
  for (unsigned turn = 0; more; turn++) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.batch.map_fd = (uint32_t)map;
    attr.batch.count = BATCH_ENTRIES;
    attr.batch.in_batch = turn == 0 ? 0 : (uintptr_t)&cursors[(turn - 1) % 2];
    attr.batch.out_batch = (uintptr_t)&cursors[turn % 2];
    attr.batch.keys = (uintptr_t)keys;
    attr.batch.values = (uintptr_t)values;
    if (bpf(BPF_MAP_LOOKUP_BATCH, &attr) < 0) {
      if (errno != ENOENT) {
        perror("BPF_MAP_LOOKUP_BATCH");
        return 1;
      }
      more = false;
    }
    for (uint32_t i = 0; i < attr.batch.count && !quiet; i++) {
      fputs(entries + i == 0 ? "\n" : ",\n", stdout);
      print_entry(&keys[i], &values[i]);
    }
    entries += attr.batch.count;
  }
  if (!quiet)
    puts(entries == 0 ? "]" : "\n]");
  fprintf(stderr, "%lu entries\n", entries);
  return fflush(stdout) == 0 ? 0 : 1;
}
