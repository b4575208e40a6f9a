// bun stopping.ts COUNT ADDRESS... is an app that calls, each 20 ms, what a sidecar answers for: `new:PORT`, with a
// connection for each call; `kept:PORT`, with one for all; or a URL. It prints each address that answers. At SIGTERM it
// calls each COUNT times more, prints how many of these calls were answered, and ends.
import { connect, type Socket } from "node:net";

const [, , count, ...addresses] = process.argv;
let most = Number.POSITIVE_INFINITY;
process.on("SIGTERM", () => {
  most = Number(count);
});

/** Writes some bytes, and resolves once some come back. */
async function exchange(socket: Socket): Promise<void> {
  if (socket.destroyed) throw new Error("closed");
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  socket.once("data", resolve).once("close", reject).write("some bytes");
  await promise.finally(() => socket.off("data", resolve).off("close", reject));
}

const open = (port = ""): Socket => connect(Number(port), "127.0.0.1").on("error", () => undefined);

/** Returns what calls an address. */
function callerOf(address: string): () => Promise<void> {
  const [kind, port] = address.split(":");
  if (kind === "kept") {
    const socket = open(port);
    return () => exchange(socket);
  }
  if (kind === "new")
    return async () => {
      const socket = open(port);
      await exchange(socket).finally(() => socket.destroy());
    };
  return async () => {
    const { ok, status } = await fetch(address, { keepalive: false });
    if (!ok) throw new Error(`${status}`);
  };
}

/** Calls an address on and on. Resolves with how many of the calls after SIGTERM were answered. */
async function callOn(address: string): Promise<number> {
  const call = callerOf(address);
  let hasAnswered = false;
  let answered = 0;
  for (let asked = 0; asked < most; await Bun.sleep(20)) {
    const isCounted = most === Number(count);
    asked += isCounted ? 1 : 0;
    try {
      await call();
      if (!hasAnswered) console.log(`answered: ${address}`);
      hasAnswered = true;
      answered += isCounted ? 1 : 0;
    } catch {} // it is not counted
  }
  return answered;
}

const counts = await Promise.all(addresses.map(async (address) => [address, await callOn(address)] as const));
console.log("after SIGTERM", JSON.stringify(Object.fromEntries(counts)));
process.exit(0);
