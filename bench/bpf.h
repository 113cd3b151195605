// What lpmfill and lpmread share: bpf(2) and the bytes of an ipcache entry as Cilium since 1.18 writes them.
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ipcache_key {
  uint32_t prefixlen; // counts the bits of everything below
  uint16_t cluster_id;
  uint8_t pad;
  uint8_t family; // 1 IPv4, 2 IPv6
  uint8_t address[16];
};

struct remote_endpoint_info {
  uint32_t identity;
  uint8_t tunnel_endpoint[16];
  uint16_t pad;
  uint8_t encrypt_key;
  uint8_t flags;
};

enum { FAMILY_IPV4 = 1, FAMILY_IPV6 = 2 };
enum { SKIPTUNNEL = 1, HASTUNNEL = 2, IPV6TUNNEL = 4, REMOTECLUSTER = 8, KNOWN_FLAGS = 15 };
enum { STATIC_PREFIX_BITS = 32 };

static inline int bpf(int command, union bpf_attr *attr) {
  return (int)syscall(__NR_bpf, command, attr, sizeof *attr);
}
