import { ERRNO, errnoText } from "../native/errno.ts";
import { native } from "../native/native.ts";

const F_OK = 0;
const X_OK = 1;
/** The folders in which musl's execvp looks without a PATH (musl, src/process/execvp.c). */
const USUAL_PATH = "/usr/local/bin:/bin:/usr/bin";

const MiB = 1024 * 1024;
/** Ten times the size of /proc/net/tcp on a node with 50,000 connections. */
const MOST_BYTES = 64 * MiB;

/**
 * Reads a text file, also one of /proc. Returns undefined if it cannot be read, is no regular file, or is larger than
 * 64 MiB (`MOST_BYTES`).
 */
export function readIfThere(path: string): string | undefined {
  // not by node:fs, which costs each start 0.9 ms (measured)
  const text = native.readFile(path, MOST_BYTES);
  return typeof text === "string" ? text : undefined;
}

/**
 * Reads a text file. Returns undefined if it does not exist, and `{ reason }` if it cannot be read, is no regular file,
 * or is larger than `mostMiB` MiB.
 */
export function readSmall(path: string, mostMiB: number): string | { readonly reason: string } | undefined {
  const text = native.readFile(path, mostMiB * MiB);
  if (typeof text === "string") return text;
  if (text === -ERRNO.ENOENT || text === -ERRNO.ENOTDIR) return undefined;
  if (text === -ERRNO.EFBIG) return { reason: `larger than ${mostMiB} MiB` };
  return { reason: text === -ERRNO.ENOTSUP ? "not a regular file" : errnoText(-text) };
}

/** Reports whether a file exists and its folders may be searched. */
export function isThere(path: string): boolean {
  return native.access(path, F_OK) === 0;
}

/**
 * Returns why a file is not ready: it does not exist, or a folder of its path may not be searched; if `isNotEmpty`,
 * also that it is empty or cannot be read. Returns undefined if it is ready.
 */
export function whyNotReady(path: string, isNotEmpty: boolean): string | undefined {
  if (!isNotEmpty) return isThere(path) ? undefined : NO_FILE;
  const text = native.readFile(path, 1);
  if (text === -ERRNO.ENOENT || text === -ERRNO.ENOTDIR) return NO_FILE;
  if (typeof text === "string") return text === "" ? "the file is empty" : undefined;
  return text === -ERRNO.EFBIG ? undefined : text === -ERRNO.ENOTSUP ? "not a regular file" : errnoText(-text);
}

const NO_FILE = "no such file";

/** Returns the paths at which execvp(3) looks for a program of this name, in order; an empty part of `path` is the working directory. */
export function pathsOf(name: string, path = USUAL_PATH): readonly string[] {
  return path.split(":").map((folder) => (folder === "" ? name : `${folder}/${name}`));
}

/** Reports whether ebb's user may execute a file, or search a folder. Returns false on a volume mounted noexec. */
export function isExecutable(path: string): boolean {
  return native.access(path, X_OK) === 0;
}
