import { rmSync } from "node:fs";
import type { Socket, TCPSocketListener, UnixSocketListener } from "bun";
import { until } from "../harness/ebb.ts";
import { give } from "./answers.ts";
import { now } from "./clock.ts";
import { listenDeaf } from "./deaf.ts";
import type { Place } from "./place.ts";
import type { Answer, Door, Endpoint, Phase, ProxyPlan } from "./plan/planned.ts";

/** A request, and what the proxy did with it. Times are milliseconds of CLOCK_MONOTONIC. */
export interface Request {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Undefined if the path is none that ebb should ask. */
  readonly endpoint: Endpoint | undefined;
  readonly answer: Answer;
  /** The number of requests in flight at that time, which the statistics tell. */
  readonly inFlight: number;
  /** The time when all of the answer was written; missing if it never was. */
  wholeAt?: number;
  /** The time when the connection was gone; missing if it never was. */
  closedAt?: number;
}

/** A change of the proxy's door: whether it listens and accepts. */
export interface DoorChange {
  /** The time, in milliseconds of CLOCK_MONOTONIC. */
  readonly at: number;
  readonly state: Door["state"];
}

interface Proxy extends AsyncDisposable {
  readonly requests: readonly Request[];
  readonly doors: readonly DoorChange[];
  /** Returns the most connections that were open at the same time. */
  readonly mostConnections: () => number;
  /** Resolves when nobody is connected any more, or after 2 s. */
  settled(): Promise<void>;
}

const AGAIN_MS = 5;
const SETTLED_MS = 2000;
const IDLE =
  "http.admin.downstream_cx_active: 1\nhttp.admin.downstream_rq_active: 1\nlistener.admin.downstream_cx_active: 1\n";

interface Connection {
  text: string;
  isOpen: boolean;
  request?: Request;
}

/**
 * Starts the proxy of a plan, which acts by the time since then and by the requests that come; `onRequest` hears of
 * each.
 */
export function startProxy(plan: ProxyPlan, place: Place, onRequest: (endpoint: Endpoint) => void): Proxy {
  const start = now();
  const requests: Request[] = [];
  const doors: DoorChange[] = [];
  const open = new Map<Socket<Connection>, Connection>();
  const turns = new Map<Phase, number>();
  const timers: Timer[] = [];
  let listener: TCPSocketListener<Connection> | UnixSocketListener<Connection> | undefined;
  let deaf: Disposable | undefined;
  let most = 0;
  let isDead = false;

  const current = <T extends { readonly fromMs: number }>(phases: readonly T[]): T | undefined =>
    phases.findLast(({ fromMs }) => now() - start >= fromMs) ?? phases[0];

  const answerOf = (endpoint: Endpoint | undefined): Answer => {
    const phase = endpoint === undefined ? undefined : current(plan.endpoints[endpoint]);
    if (phase === undefined) return { kind: "status", status: 404 };
    const turn = turns.get(phase) ?? 0;
    turns.set(phase, turn + 1);
    const { length } = phase.answers;
    return phase.answers[endpoint === "quit" ? Math.min(turn, length - 1) : turn % length] as Answer;
  };

  const close = (): void => {
    deaf?.[Symbol.dispose]();
    deaf = undefined;
    listener?.stop(true);
    listener = undefined;
    if ("unix" in place) rmSync(place.unix, { force: true });
    for (const [socket, connection] of open) {
      connection.isOpen = false;
      socket.terminate();
    }
  };

  const move = (state: Door["state"]): void => {
    if (isDead || doors.at(-1)?.state === state) return;
    close();
    try {
      if (state === "deaf") deaf = listenDeaf(place);
      if (state === "open") listener = Bun.listen<Connection>({ ...(place as { unix: string }), socket: handler });
      doors.push({ at: now(), state });
    } catch {
      // the kernel has not forgotten who listened there a moment ago
      timers.push(setTimeout(() => move(state), AGAIN_MS));
    }
  };

  const die = (): void => {
    move("closed");
    isDead = true;
  };

  const serve = (socket: Socket<Connection>, connection: Connection): void => {
    const [head = ""] = connection.text.split("\r\n\r\n", 1);
    if (head.length === connection.text.length) return;
    connection.text = connection.text.slice(head.length + 4);
    const [, method = "", path = ""] = /^(\w+) (\S+)/.exec(head) ?? [];
    const endpoint = endpointOf(path);
    const inFlight = current(plan.inFlight)?.count ?? 0;
    const request: Request = { at: now(), method, path, endpoint, answer: answerOf(endpoint), inFlight };
    requests.push(request);
    connection.request = request;
    const whole = () => {
      request.wholeAt = now();
    };
    const body = bodyOf(endpoint, inFlight);
    give(socket, request.answer, body, { isOpen: () => connection.isOpen, die, whole }).catch(() => undefined);
    if (endpoint !== undefined) onRequest(endpoint);
  };

  const gone = (socket: Socket<Connection>): void => {
    const connection = open.get(socket);
    if (connection === undefined) return;
    open.delete(socket);
    connection.isOpen = false;
    if (connection.request !== undefined) connection.request.closedAt ??= now();
  };

  const handler = {
    open(socket: Socket<Connection>) {
      open.set(socket, { text: "", isOpen: true });
      most = Math.max(most, open.size);
    },
    data(socket: Socket<Connection>, bytes: Buffer) {
      const connection = open.get(socket);
      if (connection === undefined) return;
      connection.text += bytes.toString("latin1");
      serve(socket, connection);
    },
    end: (socket: Socket<Connection>) => void socket.end(),
    close: gone,
    error: gone,
  };

  for (const { fromMs, state } of plan.doors) {
    if (fromMs === 0) move(state);
    else timers.push(setTimeout(() => move(state), fromMs));
  }
  return {
    requests,
    doors,
    mostConnections: () => most,
    async settled() {
      await until("nobody is connected", () => open.size === 0, SETTLED_MS).catch(() => undefined); // the oracle sees it
    },
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      close();
      isDead = true;
    },
  };
}

function endpointOf(path: string): Endpoint | undefined {
  if (path.endsWith("/ready")) return "ready";
  if (path === "/healthcheck/fail") return "fail";
  if (path.startsWith("/drain_listeners")) return "drain";
  if (path.startsWith("/stats")) return "stats";
  if (/^\/(config_dump|clusters|listeners)/.test(path)) return "dump";
  return path === "/quitquitquit" || path === "/shutdown" ? "quit" : undefined;
}

function bodyOf(endpoint: Endpoint | undefined, inFlight: number): string {
  if (endpoint === "stats") return `${IDLE}listener.0.0.0.0_8080.downstream_cx_active: ${inFlight}\n`;
  return endpoint === "dump" ? "{}" : "LIVE\n";
}
