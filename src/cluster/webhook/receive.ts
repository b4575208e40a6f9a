import type { IncomingMessage } from "node:http";

/** How much is read. */
interface ReceiveLimits {
  /** The largest body, in bytes. */
  readonly mostBytes: number;
  /** The most bytes of all bodies together, from their first byte until they are released. */
  readonly roomBytes: number;
}

/** A body, which takes room until it is released, or why there is none; `gone`: the client closed the connection. */
type Received = { readonly body: Uint8Array; readonly release: () => void } | "too large" | "no room" | "gone";

/**
 * Creates a function that reads a request's body. It resolves with `too large` if the body is or says to be larger than
 * allowed, with `no room` if all bodies together are. Never rejects.
 */
export function createReceiver({ mostBytes, roomBytes }: ReceiveLimits) {
  let heldBytes = 0;
  return async (request: IncomingMessage): Promise<Received> => {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) return "too large";
    // one buffer: with an object for each chunk, a byte could cost a hundred
    const sink = new Bun.ArrayBufferSink();
    sink.start({ asUint8Array: true });
    let bytes = 0;
    const release = (): void => {
      heldBytes -= bytes;
      bytes = 0;
    };
    const { promise, resolve } = Promise.withResolvers<Received>();
    const onGone = () => resolve("gone");
    const { socket } = request;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      heldBytes += chunk.length;
      if (bytes > mostBytes) resolve("too large");
      else if (heldBytes > roomBytes) resolve("no room");
      else sink.write(chunk);
    });
    request.once("end", () => resolve({ body: sink.end() as Uint8Array, release }));
    request.once("close", onGone);
    socket.once("close", onGone); // the only sign if the request is answered before all of it is here
    const received = await promise;
    request.removeAllListeners("data");
    socket.off("close", onGone);
    if (typeof received === "string") release();
    request.resume(); // a client reads the answer only if it can go on sending
    return received;
  };
}
