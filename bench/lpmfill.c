// Makes an ipcache map of synthetic entries and pins it.
//   cc -O2 -o lpmfill lpmfill.c && ./lpmfill PIN COUNT [mix|local|random] [VALUE_BYTES]
// mix (the default) looks like a large cluster: of 20 entries 16 are IPv4 addresses behind a tunnel, 3 IPv6 addresses
// and 1 an IPv4 /24 with a local identity; local has 15, 3 and 2 of them. random (24-byte values only) has everything that
// an entry can have: clusters, every scope, every flag bit, known or not, tunnels of both families, encrypt keys, all
// prefix lengths; host bits are zero. The same arguments make the same entries.
#include "bpf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_MAX_ENTRIES 512000u

static uint64_t state = 0x243f6a8885a308d3;

// splitmix64
static uint64_t next_random(void) {
  uint64_t mixed = state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

static void put_ipv4(uint8_t *out, uint32_t address) {
  for (int i = 0; i < 4; i++)
    out[i] = (uint8_t)(address >> (24 - 8 * i));
}

static void put_random(uint8_t *out, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    out[i] = (uint8_t)next_random();
}

static void mixed_entry(uint32_t i, bool many_local, struct ipcache_key *key, struct remote_endpoint_info *info) {
  const uint32_t place = i % 20;
  if (place == 19 || (many_local && place == 15)) {
    const uint32_t n = many_local ? i / 20 * 2 + (place == 15) : i / 20;
    key->family = FAMILY_IPV4;
    key->prefixlen = STATIC_PREFIX_BITS + 24;
    put_ipv4(key->address, (100 + n % 100) << 24 | n / 100 << 8);
    info->identity = 0x01000001 + n;
    return;
  }
  info->identity = 1000 + i % 5000;
  if (place >= 16) {
    key->family = FAMILY_IPV6;
    key->prefixlen = STATIC_PREFIX_BITS + 128;
    key->address[0] = 0xfd;
    const uint64_t host = i * 0x9e3779b97f4a7c15u;
    memcpy(key->address + 8, &host, sizeof host);
    return;
  }
  key->family = FAMILY_IPV4;
  key->prefixlen = STATIC_PREFIX_BITS + 32;
  // An odd factor visits each of the 2^24 addresses of 10.0.0.0/8 once.
  put_ipv4(key->address, 10u << 24 | (i * 2654435761u & 0xffffff));
  put_ipv4(info->tunnel_endpoint, 0xac150000 | i % 4096);
  info->flags = HASTUNNEL;
}

static void random_entry(struct ipcache_key *key, struct remote_endpoint_info *info) {
  const bool ipv6 = next_random() % 2;
  const unsigned bits = ipv6 ? 128 : 32;
  const unsigned length = next_random() % 3 ? bits : (unsigned)(next_random() % (bits + 1));
  key->family = ipv6 ? FAMILY_IPV6 : FAMILY_IPV4;
  key->prefixlen = STATIC_PREFIX_BITS + length;
  key->cluster_id = next_random() % 4 ? 0 : (uint16_t)next_random();
  put_random(key->address, bits / 8);
  if (ipv6) {
    // Never v4-mapped or v4-compatible; runs of zero groups are wanted, as they are printed in their own way.
    key->address[0] |= 0x20;
    for (unsigned group = 1; group < 8; group++)
      if (next_random() % 2)
        memset(key->address + 2 * group, 0, 2);
  }
  for (unsigned bit = length; bit < bits; bit++)
    key->address[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);

  static const uint32_t scopes[] = {0, 0, 0x01000000, 0x02000000, 0x03000000, 0xff000000};
  info->identity = scopes[next_random() % 6] | (uint32_t)(next_random() & 0xffffff);
  if (next_random() % 8 == 0)
    info->identity &= 0xff;
  info->encrypt_key = next_random() % 2 ? 0 : (uint8_t)next_random();
  info->flags = next_random() % 2 ? 0 : (uint8_t)next_random();
  if (!(info->flags & HASTUNNEL))
    return;
  put_random(info->tunnel_endpoint, info->flags & IPV6TUNNEL ? 16 : 4);
  info->tunnel_endpoint[0] |= 0x20;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 5) {
    fprintf(stderr, "usage: lpmfill PIN COUNT [mix|local|random] [VALUE_BYTES]\n");
    return 2;
  }
  const char *pin = argv[1];
  const uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
  const bool random = argc > 3 && strcmp(argv[3], "random") == 0;
  const bool many_local = argc > 3 && strcmp(argv[3], "local") == 0;
  const uint32_t value_bytes = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : sizeof(struct remote_endpoint_info);
  if (value_bytes > sizeof(struct remote_endpoint_info) || (random && value_bytes != sizeof(struct remote_endpoint_info))) {
    fprintf(stderr, "lpmfill: no such value size\n");
    return 2;
  }
  union bpf_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.map_type = BPF_MAP_TYPE_LPM_TRIE;
  attr.key_size = sizeof(struct ipcache_key);
  attr.value_size = value_bytes;
  attr.max_entries = count > DEFAULT_MAX_ENTRIES ? count : DEFAULT_MAX_ENTRIES;
  attr.map_flags = BPF_F_NO_PREALLOC;
  memcpy(attr.map_name, "cilium_ipcache_", 15);
  const int map = bpf(BPF_MAP_CREATE, &attr);
  if (map < 0) {
    perror("BPF_MAP_CREATE");
    return 1;
  }
  for (uint32_t i = 0; i < count;) {
    struct ipcache_key key = {0};
    struct remote_endpoint_info info = {0};
    if (random)
      random_entry(&key, &info);
    else
      mixed_entry(i, many_local, &key, &info);
    // Layouts of fewer bytes keep identity and IPv4 tunnel at the same places and have none of these flags.
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)map;
    attr.key = (uintptr_t)&key;
    attr.value = (uintptr_t)&info;
    attr.flags = BPF_NOEXIST;
    if (bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0) {
      i++;
    } else if (!random || errno != EEXIST) {
      perror("BPF_MAP_UPDATE_ELEM");
      return 1;
    }
  }
  memset(&attr, 0, sizeof attr);
  attr.pathname = (uintptr_t)pin;
  attr.bpf_fd = (uint32_t)map;
  if (bpf(BPF_OBJ_PIN, &attr) < 0) {
    perror(pin);
    return 1;
  }
  return 0;
}
