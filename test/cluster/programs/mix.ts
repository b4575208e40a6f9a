// Kinds of clients of what serve.ts serves. Each sends one request after the other, and repeats none: each failure counts.
import { grpc, http2, subscriber } from "./http2.ts";
import { http1, type Lost, type Requester } from "./requesters.ts";
import { events, lines, webSocket } from "./talks.ts";

/** A request that was lost. */
export interface Loss {
  /** The time, as in ISO 8601, when the client knew. */
  readonly at: string;
  /** The kind of client. */
  readonly client: string;
  /** The pod that last answered on the connection; "" if none has. */
  readonly pod: string;
  /** What lost it, in a few words: `connection refused`. */
  readonly by: string;
  readonly detail: string;
}

/** What became of the requests. */
export interface Outcome {
  /** The number of requests, by kind of client. */
  readonly sent: Readonly<Record<string, number>>;
  readonly losses: readonly Loss[];
  /** The pods that have answered. */
  readonly pods: readonly string[];
}

/** What the clients call. */
export interface Callee {
  readonly host: string;
  readonly port: number;
  /** Its port for gRPC, if some clients are to speak that and HTTP/2. */
  readonly grpcPort?: number;
  /** Its port for lines over TCP; some clients then also have WebSockets, and read events. */
  readonly tcpPort?: number;
  /** Of the requests of some clients, the time that they take, in ms. */
  readonly longMs?: number;
  /** Of some clients, the pause between two requests, in ms: longer than a drain's minimum. */
  readonly pauseMs?: number;
  /** Whether there is one client of each kind. */
  readonly isFew?: boolean;
}

interface Kind {
  readonly name: string;
  /** Returns what one of its clients sends by. */
  readonly requester: () => Requester;
  /** The shortest and the longest time, in ms, between two requests. */
  readonly pausesMs: readonly [number, number];
  /** The shortest and the longest time, in ms, that its requests take. */
  readonly takesMs: readonly [number, number];
}

const short = [0, 299] as const;
const none = [0, 0] as const;

function kindsOf({ host, port: number, grpcPort, tcpPort, longMs, pauseMs, isFew = false }: Callee): readonly Kind[] {
  const port = `${number}`;
  const some = (count: number, kind: Kind): readonly Kind[] => Array(isFew ? 1 : count).fill(kind);
  const kept = (): Requester => http1(host, port, true);
  const fresh = (): Requester => http1(host, port, false);
  const kinds = [
    ...some(8, { name: "busy", requester: kept, pausesMs: none, takesMs: short }),
    ...some(4, { name: "quick", requester: kept, pausesMs: [25, 25], takesMs: short }),
    ...some(8, { name: "pausing", requester: kept, pausesMs: [0, 1500], takesMs: short }),
    ...some(8, { name: "slow", requester: kept, pausesMs: [1000, 1000], takesMs: short }),
    ...some(4, { name: "new", requester: fresh, pausesMs: none, takesMs: short }),
  ];
  if (longMs !== undefined)
    kinds.push(...some(4, { name: "long", requester: kept, pausesMs: none, takesMs: [longMs, longMs] }));
  if (pauseMs !== undefined)
    kinds.push(...some(4, { name: "sleepy", requester: kept, pausesMs: [pauseMs, pauseMs], takesMs: short }));
  for (const _ of isFew ? [1] : [1, 2]) {
    if (grpcPort === undefined) break;
    const call = grpc(host, `${grpcPort}`);
    kinds.push(
      ...some(4, { name: "http2", requester: http2(host, port), pausesMs: [0, 25], takesMs: short }),
      ...some(2, { name: "grpc", requester: call, pausesMs: [0, 100], takesMs: none }),
      ...some(3, {
        name: "grpc-stream",
        requester: grpc(host, `${grpcPort}`),
        pausesMs: [0, 100],
        takesMs: [1000, 5000],
      }),
    );
  }
  if (tcpPort !== undefined)
    kinds.push(
      ...some(3, {
        name: "subscriber",
        requester: () => subscriber(host, `${grpcPort}`),
        pausesMs: none,
        takesMs: [1, 1],
      }),
      ...some(3, { name: "tcp", requester: () => lines(host, `${tcpPort}`), pausesMs: [0, 300], takesMs: none }),
      ...some(3, { name: "websocket", requester: () => webSocket(host, port), pausesMs: [0, 300], takesMs: none }),
      ...some(3, { name: "events", requester: () => events(host, port), pausesMs: none, takesMs: [3000, 8000] }),
    );
  return kinds;
}

interface Mix {
  /** Returns the number of requests so far. */
  count(): number;
  /** Ends the clients, and resolves with what became of their requests once the last has ended. */
  end(): Promise<Outcome>;
}

/** Starts the clients, once the callee answers each kind of them. */
export async function startMix(callee: Callee): Promise<Mix> {
  const sent: Record<string, number> = {};
  const losses: Loss[] = [];
  const pods = new Set<string>();
  const over = Promise.withResolvers<void>();
  let isOver = false;

  const pause = async (ms: number): Promise<void> => {
    if (ms > 0) await Promise.race([Bun.sleep(ms), over.promise]);
  };
  const live = async (client: number, { name, requester: start, pausesMs, takesMs }: Kind): Promise<void> => {
    const requester = start();
    void over.promise.then(() => requester.leave?.());
    for (let turn = 0; !isOver; turn += 1) {
      sent[name] = (sent[name] ?? 0) + 1;
      try {
        pods.add(await requester.ask(between(takesMs, client * 37 + turn * 53)));
      } catch (error) {
        const { by = "unknown", message: detail } = error as Lost;
        losses.push({ at: new Date().toISOString(), client: name, pod: requester.pod(), by, detail });
        await pause(100);
      }
      await pause(between(pausesMs, client * 271 + turn * 97));
    }
    requester.close();
  };

  const kinds = kindsOf(callee);
  for (const { requester } of new Map(kinds.map((kind) => [kind.requester, kind])).values()) await begin(requester());
  const living = Promise.all(kinds.map((kind, client) => live(client, kind)));
  return {
    count: () => Object.values(sent).reduce((sum, each) => sum + each, 0),
    async end() {
      isOver = true;
      over.resolve();
      await living;
      return { sent, losses, pods: [...pods] };
    },
  };
}

function between([least, most]: readonly [number, number], number: number): number {
  return least + (number % (most - least + 1));
}

/** Waits until the callee answers. */
async function begin(requester: Requester): Promise<void> {
  for (;;) {
    try {
      await requester.ask(0);
      return requester.close();
    } catch {
      await Bun.sleep(100);
    }
  }
}
