import { statSync } from "node:fs";
import { ebbPath } from "../../harness.ts";

export const isRoot = process.getuid?.() === 0;

export const built = statSync(ebbPath).size;
