import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Pod } from "../../../../../../src/cluster/inject/core/pod.ts";

/** Reads the pod in a file of this folder. */
export function podIn(file: string): Pod {
  return parse(readFileSync(join(import.meta.dirname, `${file}.yaml`), "utf8")) as Pod;
}
