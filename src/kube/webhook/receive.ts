import type { IncomingMessage } from "node:http";

/** A limit for the bytes of all requests in memory. */
export interface ByteBudget {
  /** Takes bytes out of the budget. Returns false, and takes none, if fewer are left. */
  take(bytes: number): boolean;
  /** Gives bytes back. */
  give(bytes: number): void;
}

/** Creates a budget of `most` bytes for the requests under way. */
export function createByteBudget(most: number): ByteBudget {
  let left = most;
  return {
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    give(bytes) {
      left += bytes;
    },
  };
}

/** A body, or why there is none; `gone`: the client closed the connection. */
export type Received = { readonly body: Uint8Array } | "too large" | "no room" | "gone";

/** The first size of a body's buffer. */
const FIRST_BYTES = 64 * 1024;

/**
 * Reads a request's body. Resolves with `too large` if it is or says to be longer than `mostBytes`, with `no room` if
 * `room` has too few bytes left. Bytes that it took from `room` are back when it resolves. Never rejects.
 */
export async function receiveBody(request: IncomingMessage, mostBytes: number, room: ByteBudget): Promise<Received> {
  const declared = Number(request.headers["content-length"] ?? mostBytes);
  if (declared > mostBytes) return "too large";
  // in one buffer: with one object for each chunk, a byte could cost a hundred
  let held = Buffer.allocUnsafeSlow(Math.min(declared, FIRST_BYTES));
  let bytes = 0;
  const { promise, resolve } = Promise.withResolvers<Received>();
  const onGone = () => resolve("gone");
  const { socket } = request;
  request.on("data", (chunk: Buffer) => {
    const needed = bytes + chunk.length;
    if (needed > mostBytes) return resolve("too large");
    if (!room.take(chunk.length)) return resolve("no room");
    if (needed > held.length) held = grown(held, bytes, Math.max(needed, Math.min(declared, 2 * held.length)));
    chunk.copy(held, bytes);
    bytes = needed;
  });
  request.once("end", () => resolve({ body: held.subarray(0, bytes) }));
  request.once("close", onGone);
  socket.once("close", onGone); // the only sign if the request is answered before all of it is here
  try {
    return await promise;
  } finally {
    request.removeAllListeners("data");
    socket.off("close", onGone);
    room.give(bytes);
    request.resume(); // a client reads the answer only if it can go on sending
  }
}

function grown(held: Buffer, bytes: number, size: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(size);
  held.copy(larger, 0, 0, bytes);
  return larger;
}
