import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from "node:net";
import { nowNs } from "../faults/clock.ts";
import { until } from "../harness/ebb.ts";
import type { Answer } from "./answers.ts";
import type { Server } from "./case.ts";

/** The servers of a case, and the requests that they got. */
export interface Pod {
  /** Returns the number of polls so far. */
  readonly polls: () => number;
  /** `PORT METHOD PATH` of the polls. */
  readonly polled: ReadonlySet<string>;
  /** Returns `PORT METHOD PATH[ BODY]` of the other requests, ordered by port, or as they came. */
  readonly requests: (isInOrder?: true) => readonly string[];
  /** Returns when a server first said that it was ready, in nanoseconds of CLOCK_MONOTONIC; undefined before. */
  readonly readyAt: () => bigint | undefined;
  /** Gives polls the last answers from now on. */
  readonly becomeReady: () => void;
  /** Resolves when all that was sent by processes that have ended is read. */
  settled(): Promise<void>;
  /** Ends the servers and all connections. */
  close(): void;
}

const isPoll = /^GET (\/\w+)*\/(server_info|ready)$/;

/** Starts the servers of a case. Resolves once all listen that are not late. Rejects if a port is taken. */
export async function startServers(servers: readonly Server[]): Promise<Pod> {
  const polled = new Set<string>();
  const asked: { port: number; text: string }[] = [];
  const open = new Map<number, NetServer>();
  const sockets = new Set<Socket>();
  const timers: Timer[] = [];
  let polls = 0;
  let readyAt: bigint | undefined;
  let isReady = false;

  const answerTo = (server: Server, request: Request): Answer | undefined => {
    const { port } = server;
    const line = `${port} ${request.line}`;
    if (server.polls !== undefined && isPoll.test(request.line)) {
      polls += 1;
      polled.add(line);
      const answer = isReady ? server.polls.at(-1) : next(server.polls);
      if (answer?.isReady) readyAt ??= nowNs();
      return answer;
    }
    asked.push({ port, text: request.body === "" ? line : `${line} ${request.body}` });
    return next(server.others ?? []);
  };

  const taken = new Map<readonly Answer[], number>();
  const next = (answers: readonly Answer[]): Answer | undefined => {
    const index = taken.get(answers) ?? 0;
    taken.set(answers, index + 1);
    return answers[Math.min(index, answers.length - 1)];
  };

  const listen = (server: Server): Promise<void> => {
    const { port, host = "127.0.0.1", ends = [port] } = server;
    const net = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
      socket.on("end", () => socket.end());
      onRequest(socket, (request) => {
        const answer = answerTo(server, request);
        if (answer === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        const isTaken = answer.isQuit && !request.line.startsWith("GET ");
        if (isTaken) for (const each of ends) open.get(each)?.close();
        answer.give(socket);
        if (isTaken) socket.end();
      });
    });
    open.set(port, net);
    return new Promise((listening, fail) => {
      net.once("error", fail);
      net.listen(port, host, listening);
    });
  };

  for (const server of servers) {
    if (server.afterMs === undefined) await listen(server);
    else timers.push(setTimeout(() => void listen(server), server.afterMs));
  }
  return {
    polls: () => polls,
    polled,
    requests: (isInOrder) => {
      const sorted = isInOrder ? asked : asked.toSorted((a, b) => a.port - b.port);
      return collapse(sorted.map(({ text }) => text));
    },
    readyAt: () => readyAt,
    becomeReady: () => {
      isReady = true;
    },
    async settled() {
      for (const net of open.values()) await knock(net);
      await until("all is read", () => [...sockets].every((socket) => socket.readableEnded || socket.destroyed));
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer);
      for (const net of open.values()) net.close();
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

/** Connects to a server and disconnects: then all connections made before have been accepted. */
async function knock(net: NetServer): Promise<void> {
  if (!net.listening) return;
  const { port, address } = net.address() as AddressInfo;
  const { promise, resolve } = Promise.withResolvers<void>();
  connect(port, address)
    .on("connect", function end(this: Socket) {
      this.end();
    })
    .on("error", () => undefined) // it has just stopped to listen
    .on("close", () => resolve())
    .resume();
  await promise;
}

/** Replaces repetitions of a line by one line with ` again`, however many there are. */
function collapse(lines: readonly string[]): readonly string[] {
  const repeated = lines.map((line, index) => (line === lines[index - 1] ? `${line} again` : line));
  return repeated.filter((line, index) => line !== repeated[index - 1]);
}

interface Request {
  /** `METHOD PATH`. */
  readonly line: string;
  readonly body: string;
}

/** Calls `take` with each request of a connection. */
function onRequest(socket: Socket, take: (request: Request) => void): void {
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    for (;;) {
      const end = text.indexOf("\r\n\r\n") + 4;
      const body = end < 4 ? undefined : bodyOf(text.slice(0, end), text.slice(end));
      if (body === undefined) return;
      const [method = "", path = ""] = text.split(" ");
      text = text.slice(end + body.length);
      take({ line: `${method} ${path}`, body: body.text });
    }
  });
}

interface Body {
  readonly text: string;
  /** The number of bytes in which it came, framing included. */
  readonly length: number;
}

/** Returns a request's body, or undefined if it is not complete yet. */
function bodyOf(head: string, rest: string): Body | undefined {
  if (/^transfer-encoding: *chunked/im.test(head)) return chunkedBody(rest);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return rest.length < length ? undefined : { text: rest.slice(0, length), length };
}

function chunkedBody(rest: string): Body | undefined {
  let text = "";
  for (let at = 0; ; ) {
    const line = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.slice(at, line), 16);
    const end = line + 2 + size + 2;
    if (line < 0 || rest.length < end) return undefined;
    if (size === 0) return { text, length: end };
    text += rest.slice(line + 2, line + 2 + size);
    at = end;
  }
}
