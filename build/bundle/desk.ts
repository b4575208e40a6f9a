import { join, resolve } from "node:path";

const src = resolve(import.meta.dirname, "../../src");

/** The modules in whose place a desk build has those of src/desk: their paths, and what stands there. */
export const deskModules: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "shared/native/native.ts": "native.ts",
    "cluster/api/starting-environment.ts": "starting-environment.ts",
  }).map(([path, twin]) => [join(src, path), `export * from ${JSON.stringify(join(src, "desk", twin))};`]),
);
