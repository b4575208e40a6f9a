// How a client sends requests to serve.ts, without retries; and HTTP/1.1.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** What one client sends by. */
export interface Requester {
  /** Sends a request that takes so long, and resolves with the pod that answered. Rejects with Lost. */
  ask(ms: number): Promise<string>;
  /** Returns the pod that last answered on the connection of the last request; "" if none has. */
  pod(): string;
  close(): void;
  /** Ends the request under way, if that has no end of its own. */
  leave?(): void;
}

/** Why a request is lost. */
export class Lost extends Error {
  /** In a few words: `connection refused`. The message has the details. */
  readonly by: string;

  constructor(by: string, message: string) {
    super(message);
    this.by = by;
  }
}

/** The time for a connection, and for an answer beyond what its request takes. */
export const PATIENCE_MS = 30_000;

/** Returns a client of HTTP/1.1, which keeps its connection or opens one for each request. */
export function http1(host: string, port: string, keeps: boolean): Requester {
  let socket: Socket | undefined;
  let pod = "";
  return {
    pod: () => pod,
    async ask(ms) {
      try {
        if (socket?.readyState !== "open") {
          pod = "";
          socket = await open(host, port);
        }
        const { status, body, closes } = await exchange(socket, host, ms);
        if (status !== 200) throw new Lost(`HTTP ${status}`, body);
        pod = body;
        if (closes || !keeps) socket.destroy();
        return body;
      } catch (error) {
        socket?.destroy();
        throw error;
      }
    },
    close: () => void socket?.destroy(),
  };
}

/** Opens a connection. Rejects with Lost. */
export async function open(host: string, port: string): Promise<Socket> {
  const socket = connect(Number(port), host);
  socket.on("error", () => undefined); // the request has it, too; an idle connection may end
  let by = "no connection";
  const patience = setTimeout(() => {
    by = "timed out";
    socket.destroy(new Error("no connection in time"));
  }, PATIENCE_MS);
  await once(socket, "connect")
    .catch((error) => {
      throw new Lost(error.code === "ECONNREFUSED" ? "connection refused" : by, `${error}`);
    })
    .finally(() => clearTimeout(patience));
  return socket;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly closes: boolean;
}

async function exchange(socket: Socket, host: string, ms: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let text = "";
  const onData = (bytes: Buffer): void => {
    text += bytes.toString("latin1");
    const answer = parse(text);
    if (answer !== undefined) resolve(answer);
  };
  const fail = (by: string, detail: unknown): void => reject(new Lost(by, `${detail}, after ${text.length} bytes`));
  const onEnd = (error?: unknown): void => fail(endedBy(text !== ""), error || "closed");
  const patience = setTimeout(() => fail("timed out", "no answer in time"), ms + PATIENCE_MS);
  socket.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  socket.write(`GET /?ms=${ms} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return await promise.finally(() => {
    clearTimeout(patience);
    socket.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", onEnd);
  });
}

/** Says what lost a request whose connection ended. */
export function endedBy(hasBegun: boolean): string {
  return hasBegun ? "answer cut" : "closed before an answer";
}

/** Parses an answer; undefined if it is not complete. The app and Envoy both send a content-length. */
function parse(text: string): Answer | undefined {
  const [, head = "", body = ""] = /^(.*?\r\n\r\n)(.*)$/s.exec(text) ?? [];
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined || body.length < Number(length)) return undefined;
  return { status: Number(head.split(" ")[1]), body, closes: /^connection: close/im.test(head) };
}
