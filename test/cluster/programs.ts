import { readFileSync } from "node:fs";
import { join } from "node:path";
import { images } from "./cluster.ts";
import { configMapOf } from "./objects.ts";

const folder = "/programs";
const name = "programs";

/** Runs TypeScript in containers, from a ConfigMap that a test has to create. */
export const programs = {
  name,
  /** Returns the ConfigMap with these files of test/cluster/programs, and with what they import. */
  configMap: (...files: readonly string[]) => configMapOf(name, Object.fromEntries(withImports(files))),
  volume: { name, configMap: { name } },
  /** Returns a container that runs one of the files. */
  container: (container: string, file: string, ...args: readonly string[]) => ({
    name: container,
    image: images.bun,
    command: ["/bun", `${folder}/${file}`, ...args],
    volumeMounts: [{ name, mountPath: folder, readOnly: true }],
  }),
};

/** Returns the texts of files of test/cluster/programs and of what they import, by their names. */
export function withImports(files: readonly string[], all = new Map<string, string>()): ReadonlyMap<string, string> {
  for (const file of files.filter((one) => !all.has(one))) {
    const text = readFileSync(join(import.meta.dirname, "programs", file), "utf8");
    all.set(file, text);
    withImports(
      Array.from(text.matchAll(/ from "\.\/(.+)";$/gm), ([, name = ""]) => name),
      all,
    );
  }
  return all;
}
