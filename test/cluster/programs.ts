import { readFileSync } from "node:fs";
import { join } from "node:path";
import { images } from "./cluster.ts";
import { configMapOf } from "./objects.ts";

const folder = "/programs";
const name = "programs";

/** TypeScript in containers: from a ConfigMap, which has to be made. */
export const programs = {
  name,
  /** Of these files in test/cluster/programs. */
  configMap: (...files: readonly string[]) =>
    configMapOf(name, Object.fromEntries(files.map((file) => [file, programText(file)]))),
  volume: { name, configMap: { name } },
  /** A container that runs one of them. */
  container: (container: string, file: string, ...args: readonly string[]) => ({
    name: container,
    image: images.bun,
    command: ["/bun", `${folder}/${file}`, ...args],
    volumeMounts: [{ name, mountPath: folder, readOnly: true }],
  }),
};

/** One of test/cluster/programs. */
export function programText(file: string): string {
  return readFileSync(join(import.meta.dirname, "programs", file), "utf8");
}
