import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";

// What a person or a cluster names as a file may be anything: a pipe without a writer, a device without an end, a
// folder, a file of gigabytes. None of them holds ebb up, or costs more memory than the limits that callers give.

/** Bytes. */
export const MiB = 1024 * 1024;
const PIECE = 64 * 1024;
const LONGEST_PAUSE_MS = 32;
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads a regular file as UTF-8 text, synchronously.
 * @throws Error if it cannot be read, is no regular file, or is longer than `mostBytes`
 */
export function readFileWithin(path: string, mostBytes: number): string {
  const descriptor = openSync(path, FLAGS);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Error(status.isDirectory() ? "is a folder, not a file" : "not a regular file");
    const pieces = gather(mostBytes, tooMuch(path));
    while (pieces.add(nextPiece(descriptor) ?? END));
    return pieces.all().toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file or pipe (`<(command)`) to its end without blocking, so that signals are seen meanwhile. Waits until
 * a writer opens a named pipe. Rejects if it cannot be opened, is longer than `mostBytes`, or is a pipe that has
 * not ended within `limitMs` (by default there is no limit).
 */
export function readPathWithin(path: string, mostBytes: number, limitMs?: number): Promise<Buffer> {
  return readStreamWithin(piecesOf(path, limitMs), mostBytes, tooMuch(path));
}

/** Reads a file or pipe as `readPathWithin` does, of any length, piece by piece. */
export async function* piecesOf(path: string, limitMs = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  const end = performance.now() + limitMs;
  const descriptor = openSync(path, FLAGS);
  try {
    // one of these has its writer: it is a link on Linux, but a pipe on macOS
    let waitsForWriter = lstatSync(path).isFIFO() && !path.startsWith("/dev/fd/");
    for (let pauseMs = 1; ; ) {
      const piece = nextPiece(descriptor);
      const isNothingYet = piece === undefined || (waitsForWriter && piece.length === 0);
      if (!isNothingYet) {
        if (piece.length === 0) return;
        yield piece;
        waitsForWriter = false;
        pauseMs = 1;
        continue;
      }
      if (performance.now() > end) throw new Error(`the pipe did not end within ${limitMs / 1000} s`);
      await Bun.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Reads stdin to its end. Rejects if it is longer than `mostBytes`. */
export function readStdinWithin(mostBytes: number): Promise<Buffer> {
  return readStreamWithin(Bun.stdin.stream(), mostBytes, tooMuch("stdin"));
}

/** Reads a stream to its end. Rejects with what `refuse` returns if it is longer than `mostBytes`. */
export async function readStreamWithin(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number,
  refuse: (mostBytes: number) => Error,
): Promise<Buffer> {
  const pieces = gather(mostBytes, refuse);
  for await (const piece of stream) pieces.add(Buffer.from(piece));
  return pieces.all();
}

const END = Buffer.alloc(0);

/** Reads the next piece. Returns an empty one at the end, and undefined if nothing has come yet. */
function nextPiece(descriptor: number): Buffer | undefined {
  const piece = Buffer.allocUnsafe(PIECE);
  try {
    return piece.subarray(0, readSync(descriptor, piece));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}

/** Returns a function that returns the error of what is called `name` and is too long. */
export function tooMuch(name: string): (mostBytes: number) => Error {
  return (mostBytes) => new Error(`${name} has more than ${mostBytes / MiB} MiB, the most that ebb reads here`);
}

/** Creates a collector of pieces, of `mostBytes` in all. */
function gather(mostBytes: number, refuse: (mostBytes: number) => Error) {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    /** Adds a piece. Returns false if it is empty, which is the end. @throws what `refuse` returns if it is too much */
    add(piece: Buffer): boolean {
      size += piece.length;
      if (size > mostBytes) throw refuse(mostBytes);
      pieces.push(piece);
      return piece.length > 0;
    },
    all: () => Buffer.concat(pieces),
  };
}
