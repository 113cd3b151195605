/** /proc/PID/mountinfo as text: proc_pid_mountinfo(5). */

export interface Mount {
  readonly id: number;
  readonly parentId: number;
  /** The directory of the file system that is mounted; not `/` for a bind mount of a part. */
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
  readonly fsType: string;
}

/** Parses all mounts, in the file's order: of several on one path the last one is what the path shows. */
export function parseMountinfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    const mount = parseLine(line);
    if (mount !== undefined) mounts.push(mount);
  }
  return mounts;
}

/** @returns undefined for an empty line or one that does not have the documented fields. */
function parseLine(line: string): Mount | undefined {
  const fields = line.split(' ');
  // Optional fields sit between the options and a lone hyphen, in any number.
  const hyphen = fields.indexOf('-', 6);
  const [id, parentId, , root, mountPoint, options] = fields;
  const fsType = hyphen < 0 ? undefined : fields[hyphen + 1];
  if (root === undefined || mountPoint === undefined || options === undefined || fsType === undefined) return undefined;
  return {
    id: Number(id),
    parentId: Number(parentId),
    root: unescapeOctal(root),
    mountPoint: unescapeOctal(mountPoint),
    options: options.split(','),
    fsType,
  };
}

/** The kernel writes space, tab, newline and backslash as `\` and three octal digits, byte by byte. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
