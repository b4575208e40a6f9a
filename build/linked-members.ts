/** Which members of an archive ld has linked in, by the archive's file name, as its map says at its beginning. */
export function linkedMembers(map: string): ReadonlyMap<string, readonly string[]> {
  const [included = ""] = map.split(/^(?:Discarded input sections|Memory Configuration)$/m);
  const members = new Map<string, string[]>();
  for (const [, archive = "", member = ""] of included.matchAll(/^\/(?:.*\/)?([^/]+\.a)\(([^()]+)\)/gm))
    members.set(archive, [...(members.get(archive) ?? []), member]);
  return members;
}
