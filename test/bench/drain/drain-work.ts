import { Agent } from "node:http";
import { open, send } from "../../envoy/traffic.ts";
import { until } from "../../harness/ebb.ts";
import { ask, DEREGISTERED_MS, type InFlight, PAUSE_MS, type Place, startClock, type Work } from "./drain-client.ts";

/** The time that the request of `request` takes. */
export const REQUEST_MS = 4000;
/** The time after which the client of `webSocket` closes it. */
export const SOCKET_MS = 8000;

/** Does nothing at all. */
export async function idle(): Promise<Work> {
  return { begin: () => undefined, done: async () => [] };
}

/** Opens a keep-alive connection, sends a request, and holds the connection until it is closed. */
export async function keepAlive({ url }: Place, client = 0): Promise<Work> {
  const clock = startClock();
  const connection = await open(Number(new URL(url).port));
  await send(connection, "/");
  const closed = Promise.withResolvers<number>();
  connection.socket.once("close", () => closed.resolve(clock.ms()));
  const ended = async () => [{ client, kind: "idle", start: 0, end: await closed.promise, lost: undefined } as const];
  return { begin: clock.begin, done: ended };
}

/** Sends a request that takes 4 s. Resolves once it has arrived. */
export async function request({ url, app }: Place): Promise<Work> {
  const clock = startClock();
  const agent = new Agent({ keepAlive: true });
  const life = ask(`${url}/?${REQUEST_MS}`, agent, clock);
  await until("the app has the request", () => app.busy() > 0);
  return {
    begin: clock.begin,
    done: async () => [{ client: 0, kind: "request", ...(await life), start: 0 }],
  };
}

/** Opens a WebSocket, which the client closes 8 s after the drain begins, once a last message has come back. */
export async function webSocket({ url }: Place, client = 0): Promise<Work> {
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

/**
 * Calls every 200 ms, each time on a new connection, from the drain's begin until the address has left the endpoints.
 */
export async function nowAndThen({ url }: Place): Promise<Work> {
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
