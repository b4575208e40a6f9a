import { native } from "./native.ts";

const F_OK = 0;
const X_OK = 1;
/** Where musl's execvp looks without a PATH (musl, src/process/execvp.c). */
const USUAL_PATH = "/usr/local/bin:/bin:/usr/bin";

/**
 * The text of a file, /proc files too; undefined when it cannot be opened or read. Not through node:fs, which costs each start
 * 0.9 ms (measured).
 */
export function readIfThere(path: string): string | undefined {
  return native.readFile(path);
}

export function isThere(path: string): boolean {
  return native.access(path, F_OK) === 0;
}

/** Whether a program of this name would be found, as execvp(3) looks for it: an empty part of PATH is the working directory. */
export function isProgram(name: string, path = USUAL_PATH): boolean {
  return path.split(":").some((folder) => native.access(folder === "" ? name : `${folder}/${name}`, X_OK) === 0);
}
