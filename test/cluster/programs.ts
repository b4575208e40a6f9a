import { readFileSync } from "node:fs";
import { join } from "node:path";
import { images } from "./cluster.ts";
import { configMapOf } from "./objects.ts";

const folder = "/programs";
const name = "programs";

/** Runs TypeScript in containers, from a ConfigMap that a test has to create. */
export const programs = {
  name,
  /** Returns the ConfigMap with these files of test/cluster/programs. */
  configMap: (...files: readonly string[]) =>
    configMapOf(name, Object.fromEntries(files.map((file) => [file, programText(file)]))),
  volume: { name, configMap: { name } },
  /** Returns a container that runs one of the files. */
  container: (container: string, file: string, ...args: readonly string[]) => ({
    name: container,
    image: images.bun,
    command: ["/bun", `${folder}/${file}`, ...args],
    volumeMounts: [{ name, mountPath: folder, readOnly: true }],
  }),
};

/** Returns the text of a file in test/cluster/programs. */
export function programText(file: string): string {
  return readFileSync(join(import.meta.dirname, "programs", file), "utf8");
}
