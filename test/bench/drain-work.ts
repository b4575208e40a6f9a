import { Agent, get } from "node:http";
import { open, send } from "../envoy/traffic.ts";
import { until } from "../harness.ts";
import type { App } from "./drain-app.ts";

/** Something in flight: its life in milliseconds since the drain began. */
export interface InFlight {
  readonly client: number;
  readonly kind: "request" | "websocket" | "idle";
  readonly start: number;
  readonly end: number;
  /** Why it was lost; undefined: it ended as it should. */
  readonly lost: string | undefined;
}

/** What clients do while an Envoy is drained. */
export interface Work {
  /** The drain begins: the zero of all times. */
  begin(): void;
  /** Resolves with all that was in flight after the zero, once it has ended. */
  done(): Promise<readonly InFlight[]>;
}

/** A pod's address leaves its endpoints so long after the drain begins: kube-proxy takes that long and longer. */
export const DEREGISTERED_MS = 2000;
export const REQUEST_MS = 4000;
export const SOCKET_MS = 8000;
const PAUSE_MS = 200;

/** By their names. */
export const works = { idle, keepAlive, request, webSocket, nowAndThen, everything } as const;

/** Where clients call. */
export interface Place {
  readonly url: string;
  readonly app: App;
}

/** Nothing at all. */
async function idle(): Promise<Work> {
  return { begin: () => undefined, done: async () => [] };
}

/** A keep-alive connection that has served a request, and waits for the next. */
async function keepAlive({ url }: Place, client = 0): Promise<Work> {
  const clock = startClock();
  const connection = await open(Number(new URL(url).port));
  await send(connection, "/");
  const closed = Promise.withResolvers<number>();
  connection.socket.once("close", () => closed.resolve(clock.ms()));
  const ended = async () => [{ client, kind: "idle", start: 0, end: await closed.promise, lost: undefined } as const];
  return { begin: clock.begin, done: ended };
}

/** A request that takes 4 s. */
async function request({ url, app }: Place): Promise<Work> {
  const clock = startClock();
  const agent = new Agent({ keepAlive: true });
  const life = ask(`${url}/?${REQUEST_MS}`, agent, clock);
  await until("the app has the request", () => app.busy() > 0);
  return {
    begin: clock.begin,
    done: async () => [{ client: 0, kind: "request", ...(await life), start: 0 }],
  };
}

/** A WebSocket that its client closes 8 s later, after a last message has come back. */
async function webSocket({ url }: Place, client = 0): Promise<Work> {
  const clock = startClock();
  const socket = new WebSocket(`${url.replace("http", "ws")}/socket`);
  await new Promise((opened, failed) => {
    socket.onopen = opened;
    socket.onerror = failed;
  });
  const closed = Promise.withResolvers<InFlight>();
  let hasAnswered = false;
  socket.onmessage = () => {
    hasAnswered = true;
    socket.close();
  };
  socket.onclose = ({ code }) => {
    const lost = hasAnswered ? undefined : `closed with ${code}`;
    closed.resolve({ client, kind: "websocket", start: 0, end: clock.ms(), lost });
  };
  const begin = (): void => {
    clock.begin();
    setTimeout(() => socket.readyState === WebSocket.OPEN && socket.send("bye"), SOCKET_MS);
  };
  return { begin, done: async () => [await closed.promise] };
}

/** A client that calls now and then, each time on a connection of its own, until the address has left the endpoints. */
async function nowAndThen({ url }: Place): Promise<Work> {
  const clock = startClock();
  const all: Promise<InFlight>[] = [];
  const call = async (): Promise<InFlight> => ({
    ...{ client: 0, kind: "request", ...(await ask(`${url}/?0`, new Agent(), clock)) },
  });
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
  return {
    begin() {
      clock.begin();
      const timer = setInterval(() => {
        if (clock.ms() < DEREGISTERED_MS) return void all.push(call());
        clearInterval(timer);
        over();
      }, PAUSE_MS);
    },
    async done() {
      await isOver;
      return await Promise.all(all);
    },
  };
}

export const load = { quick: 12, slow: 4 } as const;

/** Clients as they are, an idle connection, and a WebSocket; no new requests once the address has left the endpoints. */
async function everything(place: Place): Promise<Work> {
  const clients = load.quick + load.slow;
  const works = [calls(place), await webSocket(place, clients), await keepAlive(place, clients + 1)];
  await Bun.sleep(1500); // the quick ones have turned over some times
  return {
    begin() {
      for (const { begin } of works) begin();
    },
    done: async () => (await Promise.all(works.map(({ done }) => done()))).flat(),
  };
}

/** Keep-alive clients, one request after the other, `connection: close` obeyed; the last few ask for seconds. */
function calls({ url }: Place): Work {
  const clock = startClock();
  const ended: InFlight[] = [];
  let isOpen = true;
  const work = async (client: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; isOpen; turn += 1) {
      // the same for each way of leaving
      const ms = client < load.quick ? 20 + ((client * 37 + turn * 53) % 180) : 3000 + ((client * 1700) % 6000);
      const one = await ask(`${url}/?${ms}`, agent, clock);
      if (one.end > 0) ended.push({ client, kind: "request", ...one });
      if (one.lost !== undefined) await Bun.sleep(PAUSE_MS);
    }
    agent.destroy();
  };
  const all = Promise.all(Array.from({ length: load.quick + load.slow }, (_, client) => work(client)));
  const begin = (): void => {
    clock.begin();
    setTimeout(() => {
      isOpen = false;
    }, DEREGISTERED_MS);
  };
  return { begin, done: async () => (await all) && ended };
}

interface Clock {
  begin(): void;
  /** Since it began; less than 0 before. */
  ms(): number;
}

function startClock(): Clock {
  let zero = Number.POSITIVE_INFINITY;
  return {
    begin() {
      zero = performance.now();
    },
    ms: () => performance.now() - zero,
  };
}

async function ask(url: string, agent: Agent, clock: Clock): Promise<Pick<InFlight, "start" | "end" | "lost">> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const start = clock.ms();
  const asked = get(url, { agent }, (response) => {
    response.resume();
    response.on("end", () => resolve(response.statusCode === 200 ? undefined : `HTTP ${response.statusCode}`));
    response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  const lost = await promise;
  return { start: Math.max(0, start), end: clock.ms(), lost };
}
