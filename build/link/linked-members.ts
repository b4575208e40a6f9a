/**
 * Returns the members (.o) that ld has linked in, by the file name of their archive: `libc.a`. It reads the text of
 * ld's map file, which has each at the beginning of a line.
 */
export function linkedMembers(map: string): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, string[]>();
  for (const [, archive = "", member = ""] of map.matchAll(/^\/(?:.*\/)?([^/]+\.a)\(([^()]+)\)/gm))
    members.set(archive, [...(members.get(archive) ?? []), member]);
  return members;
}
