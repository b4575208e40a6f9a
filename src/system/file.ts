import { latin1 } from "./latin1.ts";
import { cString, libc, moreOfLibc, ptr } from "./libc.ts";

const O_RDONLY = 0;
const O_CLOEXEC = 0x80000;
const X_OK = 1;
const BLOCK = 16 * 1024;
/** Where musl's execvp looks without a PATH (musl, src/process/execvp.c). */
const USUAL_PATH = "/usr/local/bin:/bin:/usr/bin";

/**
 * The text of a file, /proc files too; undefined when it cannot be opened or read. Through libc, because node:fs costs each
 * start 0.9 ms (measured).
 */
export function readIfThere(path: string): string | undefined {
  const descriptor = libc.open(ptr(cString(path)), O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return undefined;
  const block = new Uint8Array(BLOCK);
  let text = "";
  for (;;) {
    const length = Number(libc.read(descriptor, ptr(block), BigInt(BLOCK)));
    if (length > 0) text += latin1(block.subarray(0, length));
    if (length > 0) continue;
    libc.close(descriptor);
    return length < 0 ? undefined : fromUtf8(text);
  }
}

function fromUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  return new TextDecoder().decode(Uint8Array.from(text, (byte) => byte.charCodeAt(0)));
}

/** Whether a program of this name would be found, as execvp(3) looks for it: an empty part of PATH is the working directory. */
export function isProgram(name: string, path = USUAL_PATH): boolean {
  return path
    .split(":")
    .some((folder) => moreOfLibc().access(ptr(cString(folder === "" ? name : `${folder}/${name}`)), X_OK) === 0);
}
