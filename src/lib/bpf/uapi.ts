/** Constants of linux/uapi/linux/bpf.h and linux/magic.h, spelled as there. */

// enum bpf_cmd
export const BPF_MAP_CREATE = 0;
export const BPF_MAP_LOOKUP_ELEM = 1;
export const BPF_MAP_UPDATE_ELEM = 2;
export const BPF_MAP_DELETE_ELEM = 3;
export const BPF_MAP_GET_NEXT_KEY = 4;
export const BPF_PROG_LOAD = 5;
export const BPF_OBJ_PIN = 6;
export const BPF_OBJ_GET = 7;
export const BPF_PROG_GET_NEXT_ID = 11;
export const BPF_MAP_GET_NEXT_ID = 12;
export const BPF_PROG_GET_FD_BY_ID = 13;
export const BPF_MAP_GET_FD_BY_ID = 14;
export const BPF_OBJ_GET_INFO_BY_FD = 15;
export const BPF_BTF_LOAD = 18;
export const BPF_BTF_GET_FD_BY_ID = 19;
export const BPF_MAP_FREEZE = 22;
export const BPF_MAP_LOOKUP_BATCH = 24;
export const BPF_MAP_UPDATE_BATCH = 26;
export const BPF_MAP_DELETE_BATCH = 27;

/** Commands by number, for messages. */
const COMMAND_NAMES: Readonly<Record<number, string>> = {
  [BPF_MAP_CREATE]: 'BPF_MAP_CREATE',
  [BPF_MAP_LOOKUP_ELEM]: 'BPF_MAP_LOOKUP_ELEM',
  [BPF_MAP_UPDATE_ELEM]: 'BPF_MAP_UPDATE_ELEM',
  [BPF_MAP_DELETE_ELEM]: 'BPF_MAP_DELETE_ELEM',
  [BPF_MAP_GET_NEXT_KEY]: 'BPF_MAP_GET_NEXT_KEY',
  [BPF_PROG_LOAD]: 'BPF_PROG_LOAD',
  [BPF_OBJ_PIN]: 'BPF_OBJ_PIN',
  [BPF_OBJ_GET]: 'BPF_OBJ_GET',
  [BPF_PROG_GET_NEXT_ID]: 'BPF_PROG_GET_NEXT_ID',
  [BPF_MAP_GET_NEXT_ID]: 'BPF_MAP_GET_NEXT_ID',
  [BPF_PROG_GET_FD_BY_ID]: 'BPF_PROG_GET_FD_BY_ID',
  [BPF_MAP_GET_FD_BY_ID]: 'BPF_MAP_GET_FD_BY_ID',
  [BPF_OBJ_GET_INFO_BY_FD]: 'BPF_OBJ_GET_INFO_BY_FD',
  [BPF_BTF_LOAD]: 'BPF_BTF_LOAD',
  [BPF_BTF_GET_FD_BY_ID]: 'BPF_BTF_GET_FD_BY_ID',
  [BPF_MAP_FREEZE]: 'BPF_MAP_FREEZE',
  [BPF_MAP_LOOKUP_BATCH]: 'BPF_MAP_LOOKUP_BATCH',
  [BPF_MAP_UPDATE_BATCH]: 'BPF_MAP_UPDATE_BATCH',
  [BPF_MAP_DELETE_BATCH]: 'BPF_MAP_DELETE_BATCH',
};

/** The UAPI name of a command, or its number when it has none here. */
export function commandName(cmd: number): string {
  return COMMAND_NAMES[cmd] ?? `bpf command ${cmd}`;
}

// enum bpf_map_type
export const BPF_MAP_TYPE_HASH = 1;
export const BPF_MAP_TYPE_ARRAY = 2;
export const BPF_MAP_TYPE_LPM_TRIE = 11;

// flags of BPF_MAP_UPDATE_ELEM
export const BPF_ANY = 0;
export const BPF_NOEXIST = 1;
export const BPF_EXIST = 2;

// flags of BPF_MAP_CREATE; the two access bits are also file_flags of BPF_OBJ_GET and open_flags of *_GET_FD_BY_ID
export const BPF_F_NO_PREALLOC = 1 << 0;
export const BPF_F_RDONLY = 1 << 3;
export const BPF_F_WRONLY = 1 << 4;
export const BPF_F_RDONLY_PROG = 1 << 7;

/** Bytes of a name in bpf_attr and the info structs, the closing NUL included. */
export const BPF_OBJ_NAME_LEN = 16;

/** linux/magic.h: what statfs(2) answers on bpffs. */
export const BPF_FS_MAGIC = 0xcafe4a11;
