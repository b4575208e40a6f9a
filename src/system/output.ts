import { ERRNO, errno, libc, ptr } from "./libc.ts";

export function writeOutput(text: string): void {
  writeAll(1, text);
}

export function writeError(text: string): void {
  writeAll(2, text);
}

/** All of it, now. Through libc, because node:fs costs each start 0.9 ms (measured). */
function writeAll(descriptor: number, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    const written = Number(libc.write(descriptor, ptr(bytes), BigInt(bytes.length)));
    if (written >= 0) bytes = bytes.subarray(written);
    else if (errno() === ERRNO.EAGAIN) Bun.sleepSync(1);
    else if (errno() !== ERRNO.EINTR) return; // nobody reads any more (EPIPE, EBADF): there is nowhere left to say so
  }
}
