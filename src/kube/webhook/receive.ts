import type { IncomingMessage } from "node:http";

/** How much of requests is held in memory, all together. */
export interface Room {
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createRoom(most: number): Room {
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

/** A request's body, once all of it is here. */
export async function receive(request: IncomingMessage, mostBytes: number, room: Room): Promise<Received> {
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return "too large";
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    return await new Promise<Received>((resolve) => {
      request.on("data", (chunk: Buffer) => {
        if (bytes + chunk.length > mostBytes) return resolve("too large");
        if (!room.take(chunk.length)) return resolve("no room");
        bytes += chunk.length;
        chunks.push(chunk);
      });
      request.once("end", () => resolve({ body: Buffer.concat(chunks) }));
      request.once("close", () => resolve("gone"));
    });
  } finally {
    request.removeAllListeners("data");
    room.give(bytes);
    request.resume(); // an answer is only read by a client that may go on sending
  }
}
