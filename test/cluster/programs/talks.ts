// How a client reads server-sent events of serve.ts, and talks with it by a WebSocket or over TCP, without retries. Whom the
// server tells to go goes; that is no loss.
import type { Socket } from "node:net";
import { Lost, open, PATIENCE_MS, type Requester } from "./requesters.ts";

/** Returns a client that reads events for the time of its request, on a connection of its own. */
export function events(host: string, port: string): Requester {
  let pod = "";
  return {
    pod: () => pod,
    async ask(ms) {
      pod = "";
      const socket = await open(host, port);
      try {
        let text = "";
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const onEnd = (error?: unknown): void =>
          reject(
            new Lost(
              text === "" ? "closed before an answer" : "stream cut",
              `${error || "closed"}: ${text.slice(-40)}`,
            ),
          );
        const patience = setTimeout(() => reject(new Lost("timed out", "no end in time")), ms + PATIENCE_MS);
        socket
          .on("end", onEnd)
          .on("error", onEnd)
          .on("close", onEnd)
          .on("data", (bytes: Buffer) => {
            text += bytes.toString("latin1");
            const status = /^\S+ (\d+)/.exec(text)?.[1] ?? "200";
            if (status !== "200") reject(new Lost(`HTTP ${status}`, text.slice(0, 200)));
            else if (text.endsWith("0\r\n\r\n")) resolve();
          });
        socket.write(`GET /events?ms=${ms} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        await promise.finally(() => clearTimeout(patience));
        pod = /data: (\S+)/.exec(text)?.[1] ?? "";
        return pod;
      } finally {
        socket.removeAllListeners("end").removeAllListeners("close").destroy();
      }
    },
    close: () => undefined,
  };
}

/** A connection on which each message is answered by the pod's name, until one side ends it. */
interface Talk {
  send(): void;
  close(): void;
}

interface Heard {
  /** A message. */
  readonly said: (pod: string) => void;
  /** The end: undefined if the server has told the client to go. */
  readonly ended: (by?: Lost) => void;
}

/** Opens such a connection. Rejects with Lost. */
type Opening = (heard: Heard) => Promise<Talk>;

/** Returns a client that talks by a WebSocket. */
export function webSocket(host: string, port: string): Requester {
  return talking(async ({ said, ended }) => {
    const socket = new WebSocket(`ws://${host}:${port}/socket`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isOpen = false;
    const patience = setTimeout(() => reject(new Lost("no connection", "not open in time")), PATIENCE_MS);
    socket.onopen = () => {
      isOpen = true;
      resolve();
    };
    socket.onmessage = ({ data }) => said(`${data}`);
    socket.onclose = ({ code, reason }) => {
      const detail = `code ${code} ${reason}`;
      if (isOpen) ended(code === 1001 ? undefined : new Lost("connection cut", detail));
      else reject(new Lost("no WebSocket", detail));
    };
    await promise.finally(() => clearTimeout(patience));
    return { send: () => socket.send(QUESTION), close: () => socket.close() };
  });
}

/** Of more than the five bytes that Istio's TLS inspector wants before it lets a connection through. */
const QUESTION = "who is there?\n";

/** Returns a client that talks over TCP. */
export function lines(host: string, port: string): Requester {
  return talking(async ({ said, ended }) => {
    const socket: Socket = await open(host, port);
    const onEnd = (error?: unknown): void => ended(new Lost("connection cut", `${error || "closed"}`));
    socket
      .on("end", onEnd)
      .on("error", onEnd)
      .on("close", onEnd)
      .on("data", (bytes: Buffer) => {
        for (const line of bytes.toString().trim().split("\n")) {
          if (line === "bye") ended();
          else said(line);
        }
      });
    return { send: () => void socket.write(QUESTION), close: () => void socket.destroy() };
  });
}

function talking(begin: Opening): Requester {
  let talk: Talk | undefined;
  let pod = "";
  let answer: PromiseWithResolvers<string> | undefined;
  let cut: Lost | undefined;
  const converse = async (): Promise<Talk> => {
    pod = "";
    let isOver = false;
    const own = await begin({
      said: (name) => {
        pod = name;
        answer?.resolve(name);
      },
      ended: (by) => {
        if (isOver) return;
        isOver = true;
        own.close();
        talk = undefined;
        if (by === undefined) answer?.resolve(pod);
        else if (answer === undefined) cut = by;
        else answer.reject(by);
      },
    });
    return own;
  };
  return {
    pod: () => pod,
    async ask() {
      if (cut !== undefined) {
        const by = cut;
        cut = undefined;
        throw by;
      }
      talk ??= await converse();
      const own = Promise.withResolvers<string>();
      answer = own;
      const patience = setTimeout(() => own.reject(new Lost("timed out", "no answer in time")), PATIENCE_MS);
      talk.send();
      return await own.promise.finally(() => {
        answer = undefined;
        clearTimeout(patience);
      });
    },
    close() {
      const own = talk;
      talk = undefined;
      own?.close();
    },
  };
}
