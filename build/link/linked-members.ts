/** Which members of an archive ld has linked in, by the archive's file name, as its map says: each at the beginning of a line. */
export function linkedMembers(map: string): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, string[]>();
  for (const [, archive = "", member = ""] of map.matchAll(/^\/(?:.*\/)?([^/]+\.a)\(([^()]+)\)/gm))
    members.set(archive, [...(members.get(archive) ?? []), member]);
  return members;
}
