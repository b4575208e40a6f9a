import { statSync } from "node:fs";
import { ebbPath } from "../../harness/ebb.ts";

export const isRoot = process.getuid?.() === 0;

/** The size of the executable under test, in bytes. */
export const built = statSync(ebbPath).size;
