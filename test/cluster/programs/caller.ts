// bun caller.ts HOST [HTTP HTTP2 TCP] is an app that calls called.ts each 20 ms: by HTTP/1.1, on one connection as long as
// nobody closes it; by HTTP/2; in one stream of HTTP/2, as gRPC has it; by one TCP connection. It prints the first
// answer of each kind, and each call that fails. At SIGTERM it calls for a second more, prints how many calls of each kind were answered in that second, and ends.
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

const [host = "", http = "8081", http2 = "8082", tcp = "8083"] = process.argv.slice(2);
const PAUSE_MS = 20;
const MORE_MS = 1000;
let end = Number.POSITIVE_INFINITY;
const answered: Record<string, number> = {};
let closes = 0;

process.on("SIGTERM", () => {
  console.log("TERM", Date.now());
  end = performance.now() + MORE_MS;
  for (const kind of Object.keys(answered)) answered[kind] = 0;
});

async function callForEver(kind: string, call: () => Promise<void>): Promise<void> {
  for (; performance.now() < end; await Bun.sleep(PAUSE_MS)) {
    try {
      await call();
      if (answered[kind] === undefined) console.log(`answered: ${kind}`);
      answered[kind] = (answered[kind] ?? 0) + 1;
    } catch (error) {
      console.log(`lost: ${kind}: ${error}`);
    }
  }
}

/** Writes a text, and resolves once what comes matches. Rejects if the connection or the stream ends before. */
async function exchange(over: Duplex, text: string, isAnswer: (received: string) => boolean): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let received = "";
  const onData = (bytes: Buffer): void => {
    received += bytes.toString("latin1");
    if (isAnswer(received)) resolve(received);
  };
  const onEnd = (error?: unknown): void => reject(new Error(`${error || "closed"}, after ${received.length} bytes`));
  over.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  if (over.closed || over.destroyed) onEnd();
  over.write(text);
  return await promise.finally(() => {
    over.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", onEnd);
  });
}

let kept: Socket | undefined;

async function callHttp(): Promise<void> {
  if (kept?.readyState !== "open") kept = connect(Number(http), host).on("error", () => undefined);
  const text = await exchange(kept, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, (received) =>
    received.endsWith("called"),
  );
  if (!text.startsWith("HTTP/1.1 200 ")) throw new Error(text.split("\r\n")[0]);
  if (!/^connection: close/im.test(text)) return;
  closes += 1;
  kept.destroy();
}

let session: ClientHttp2Session | undefined;

/** Returns the session for the next call: a new one after GOAWAY. The calls under way stay where they are. */
function current(): ClientHttp2Session {
  if (session !== undefined) return session;
  const own = connectHttp2(`http://${host}:${http2}`);
  const leave = (): void => {
    if (session === own) session = undefined;
  };
  session = own.on("goaway", leave).on("close", leave).on("error", leave);
  return own;
}

async function callHttp2(): Promise<void> {
  const stream = current().request({ ":path": "/" });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.on("response", ({ ":status": status }) => status !== 200 && reject(new Error(`status ${status}`)));
  stream
    .on("end", resolve)
    .on("error", reject)
    .on("close", () => reject(new Error("closed")));
  stream.resume();
  await promise;
}

const streamed = current().request({ ":method": "POST", ":path": "/echo/All", "content-type": "application/grpc" });
const raw = connect(Number(tcp), host);
for (const each of [streamed, raw]) each.on("error", () => undefined); // each exchange has it, too
await Promise.all([
  callForEver("http", callHttp),
  callForEver("http2", callHttp2),
  callForEver("stream", async () => void (await exchange(streamed, "a message", (text) => text === "a message"))),
  callForEver("tcp", async () => void (await exchange(raw, "some bytes", (text) => text === "some bytes"))),
]);
console.log("answered to the end", JSON.stringify({ ...answered, closes }));
process.exit(0);
