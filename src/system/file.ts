import { ERRNO, errorText } from "./native/errno.ts";
import { native } from "./native/native.ts";

const F_OK = 0;
const X_OK = 1;
/** Where musl's execvp looks without a PATH (musl, src/process/execvp.c). */
const USUAL_PATH = "/usr/local/bin:/bin:/usr/bin";

const MiB = 1024 * 1024;
/** Ten times the table of a node's 50,000 connections. */
const MOST_BYTES = 64 * MiB;

/**
 * Reads a text file, also of /proc; undefined where it cannot be read or is no regular file. Not by node:fs, which costs each
 * start 0.9 ms (measured).
 */
export function readIfThere(path: string): string | undefined {
  const text = native.readFile(path, MOST_BYTES);
  return typeof text === "string" ? text : undefined;
}

/** Reads a text file of at most `mostMiB`; the reason where it cannot be read, undefined where there is none. */
export function readSmall(path: string, mostMiB: number): string | { readonly reason: string } | undefined {
  const text = native.readFile(path, mostMiB * MiB);
  if (typeof text === "string") return text;
  if (text === -ERRNO.ENOENT || text === -ERRNO.ENOTDIR) return undefined;
  if (text === -ERRNO.EFBIG) return { reason: `larger than ${mostMiB} MiB` };
  return { reason: text === -ERRNO.ENOTSUP ? "not a regular file" : errorText(-text) };
}

/** Whether a file exists; false also where a folder of its path may not be searched. */
export function isThere(path: string): boolean {
  return native.access(path, F_OK) === 0;
}

/** Whether a program of this name would be found, as execvp(3) looks for it: an empty part of PATH is the working directory. */
export function isProgram(name: string, path = USUAL_PATH): boolean {
  return path.split(":").some((folder) => native.access(folder === "" ? name : `${folder}/${name}`, X_OK) === 0);
}
