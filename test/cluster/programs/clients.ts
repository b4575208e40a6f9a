// bun clients.ts HOST PORT [MS] runs clients of a Service. Each sends one request after the other, which takes 0 to 300
// ms: some clients keep their connection, with or without pauses, some open one for each request. With MS further
// clients send requests that take that long, so that some are under way whenever a pod ends. No request is repeated:
// each failure counts. At SIGUSR1 the clients end, and print as JSON what became of their requests, by kind of client.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const PATIENCE_MS = 30_000;

const [host = "", port = "", long] = process.argv.slice(2);
const failures: string[] = [];
const pods = new Set<string>();
const sent: Record<string, number> = {};
let isOver = false;

interface Kind {
  readonly name: string;
  readonly keeps: boolean;
  /** The shortest and the longest time, in ms, between two requests. */
  readonly pausesMs: readonly [number, number];
  /** The time, in ms, that its requests take; undefined for 0 to 300. */
  readonly longMs?: number;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly closes: boolean;
}

async function live(client: number, { name, keeps, pausesMs: [least, most], longMs }: Kind): Promise<void> {
  let socket: Socket | undefined;
  let pod = "";
  for (let turn = 0; !isOver; turn += 1) {
    sent[name] = (sent[name] ?? 0) + 1;
    try {
      if (socket?.readyState !== "open") socket = await open();
      const { status, body, closes } = await ask(socket, longMs ?? (client * 37 + turn * 53) % 300);
      if (status !== 200) throw new Error(`HTTP ${status} ${body}`);
      pods.add(body);
      pod = body;
      if (closes || !keeps) socket.destroy();
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      failures.push(`${new Date().toISOString()} a ${name} client, whose last answer came from ${pod}: ${reason}`);
      socket?.destroy();
      await Bun.sleep(100);
    }
    if (most > 0) await Bun.sleep(least + ((client * 271 + turn * 97) % (most - least + 1)));
  }
  socket?.destroy();
}

async function open(): Promise<Socket> {
  const socket = connect(Number(port), host);
  socket.on("error", () => undefined); // the request has it, too; an idle connection may end
  const patience = setTimeout(() => socket.destroy(new Error("no connection in time")), PATIENCE_MS);
  await once(socket, "connect").finally(() => clearTimeout(patience));
  return socket;
}

async function ask(socket: Socket, ms: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let text = "";
  const onData = (bytes: Buffer): void => {
    text += bytes.toString("latin1");
    const answer = parse(text);
    if (answer !== undefined) resolve(answer);
  };
  const onEnd = (error?: unknown): void => reject(new Error(`${error || "closed"}, after ${text.length} bytes`));
  const patience = setTimeout(() => onEnd("no answer in time"), ms + PATIENCE_MS);
  socket.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  socket.write(`GET /?ms=${ms} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return await promise.finally(() => {
    clearTimeout(patience);
    socket.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", onEnd);
  });
}

/** Parses an answer; undefined if it is not complete. The app and Envoy both send a content-length. */
function parse(text: string): Answer | undefined {
  const [, head = "", body = ""] = /^(.*?\r\n\r\n)(.*)$/s.exec(text) ?? [];
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined || body.length < Number(length)) return undefined;
  return { status: Number(head.split(" ")[1]), body, closes: /^connection: close/im.test(head) };
}

/** Waits until the Service leads to a pod. */
async function begin(): Promise<void> {
  for (;;) {
    try {
      const socket = await open();
      const { status } = await ask(socket, 0);
      socket.destroy();
      if (status === 200) return;
    } catch {
      // not yet
    }
    await Bun.sleep(100);
  }
}

process.on("SIGUSR1", () => {
  isOver = true;
});
const some = (count: number, kind: Kind): readonly Kind[] => Array(count).fill(kind);
const kinds: readonly Kind[] = [
  ...some(8, { name: "busy", keeps: true, pausesMs: [0, 0] }),
  ...some(4, { name: "quick", keeps: true, pausesMs: [25, 25] }),
  ...some(8, { name: "pausing", keeps: true, pausesMs: [0, 1500] }),
  ...some(8, { name: "slow", keeps: true, pausesMs: [1000, 1000] }),
  ...some(4, { name: "new", keeps: false, pausesMs: [0, 0] }),
  ...some(long === undefined ? 0 : 4, { name: "long", keeps: true, pausesMs: [0, 0], longMs: Number(long) }),
];
await begin();
console.log("under load");
await Promise.all(kinds.map((kind, client) => live(client, kind)));
console.log(JSON.stringify({ sent, failures, pods: [...pods] }));
