import type { IncomingMessage } from "node:http";

/** How much of requests is held in memory, all together. */
export interface ByteBudget {
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Creates a budget of bytes for the requests under way. `take` returns false where it would go beyond `most`. */
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

export type Received = { readonly body: Uint8Array } | "too large" | "no room" | "gone";

const FIRST_BYTES = 64 * 1024;

/** Reads a request's body in one buffer: with one object for each chunk, a byte could cost a hundred. */
export async function receiveBody(request: IncomingMessage, mostBytes: number, room: ByteBudget): Promise<Received> {
  const declared = Number(request.headers["content-length"] ?? mostBytes);
  if (declared > mostBytes) return "too large";
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
  socket.once("close", onGone); // of a request that is answered before all of it is here, only this tells
  try {
    return await promise;
  } finally {
    request.removeAllListeners("data");
    socket.off("close", onGone);
    room.give(bytes);
    request.resume(); // an answer is only read by a client that may go on sending
  }
}

function grown(held: Buffer, bytes: number, size: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(size);
  held.copy(larger, 0, 0, bytes);
  return larger;
}
