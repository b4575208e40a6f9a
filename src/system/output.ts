import { ERRNO, errno, libc, ptr } from "./libc.ts";

export function writeOutput(text: string): void {
  writeAll(1, text);
}

/** To stderr; a live line there makes room. */
export function writeError(text: string): void {
  if (live === "") return writeAll(2, text);
  writeAll(2, `${ERASE_LINE}${text}${live}`);
}

const ERASE_LINE = "\r\x1b[K";
let live = "";

/** Shows a line at the bottom of the terminal at stderr, in place of the one before; an empty one takes it away. */
export function showLive(line: string): void {
  const width = process.stderr.columns || 80;
  live = line.length < width ? line : `${line.slice(0, width - 2)}…`;
  writeAll(2, `${ERASE_LINE}${live}`);
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
