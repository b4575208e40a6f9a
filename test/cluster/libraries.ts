import { spawnSync } from "node:child_process";

/** Returns the paths of this machine's libraries to which programs are linked, by their paths in an image. */
export function librariesOf(...programs: readonly string[]): Readonly<Record<string, string>> {
  const { stdout } = spawnSync("ldd", programs, { encoding: "utf8" });
  const libraries = stdout.match(/(?<=\s)\/[^\s:]+(?=\s\()/g) ?? missing(`ldd ${programs.join(" ")}: no library`);
  return Object.fromEntries(libraries.map((library) => [library.slice(1), library]));
}

/** @throws Error that says what is missing; for use behind `??` */
export function missing(what: string): never {
  throw new Error(what);
}
