import { spawnSync } from "node:child_process";

/** Returns the paths of this machine's libraries to which a program is linked, by their paths in an image. */
export function librariesOf(program: string): Readonly<Record<string, string>> {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  const libraries = stdout.match(/(?<=\s)\/\S+/g) ?? missing(`ldd ${program}: no library`);
  return Object.fromEntries(libraries.map((library) => [library.slice(1), library]));
}

/** @throws Error that says what is missing; for use behind `??` */
export function missing(what: string): never {
  throw new Error(what);
}
