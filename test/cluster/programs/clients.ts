// bun clients.ts HOST PORT [MS [GRPC]] runs clients of a Service. Each sends one request after the other, which takes 0 to
// 300 ms: some clients keep their connection, with or without pauses, some open one for each request. With MS further
// clients send requests that take that long, so that some are under way whenever a pod ends. With GRPC, server.ts's port
// for that, some clients share two connections of HTTP/2, and some read gRPC streams on two others. No request is
// repeated: each failure counts. At SIGUSR1 the clients end, and print as JSON what became of their requests, by kind of
// client.
import { grpc, http1, http2, type Lost, type Requester } from "./requesters.ts";

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

interface Kind {
  readonly name: string;
  /** Returns what one of its clients sends by. */
  readonly requester: () => Requester;
  /** The shortest and the longest time, in ms, between two requests. */
  readonly pausesMs: readonly [number, number];
  /** The shortest and the longest time, in ms, that its requests take. */
  readonly takesMs: readonly [number, number];
}

const [host = "", port = "", long, grpcPort] = process.argv.slice(2);
const sent: Record<string, number> = {};
const losses: Loss[] = [];
const pods = new Set<string>();
let isOver = false;

async function live(client: number, { name, requester: start, pausesMs, takesMs }: Kind): Promise<void> {
  const requester = start();
  for (let turn = 0; !isOver; turn += 1) {
    sent[name] = (sent[name] ?? 0) + 1;
    try {
      pods.add(await requester.ask(between(takesMs, client * 37 + turn * 53)));
    } catch (error) {
      const { by = "unknown", message: detail } = error as Lost;
      losses.push({ at: new Date().toISOString(), client: name, pod: requester.pod(), by, detail });
      await Bun.sleep(100);
    }
    if (pausesMs[1] > 0) await Bun.sleep(between(pausesMs, client * 271 + turn * 97));
  }
  requester.close();
}

function between([least, most]: readonly [number, number], number: number): number {
  return least + (number % (most - least + 1));
}

/** Waits until the Service leads to a pod that answers. */
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

const some = (count: number, kind: Kind): readonly Kind[] => Array(count).fill(kind);
const short = [0, 299] as const;
const kept = (): Requester => http1(host, port, true);
const fresh = (): Requester => http1(host, port, false);

function longKinds(ms: number): readonly Kind[] {
  return some(4, { name: "long", requester: kept, pausesMs: [0, 0], takesMs: [ms, ms] });
}

function http2Kinds(): readonly Kind[] {
  return [1, 2].flatMap(() => [
    ...some(4, { name: "http2", requester: http2(host, port), pausesMs: [0, 25], takesMs: short }),
    ...some(3, { name: "grpc", requester: grpc(host, `${grpcPort}`), pausesMs: [0, 100], takesMs: [1000, 5000] }),
  ]);
}

process.on("SIGUSR1", () => {
  isOver = true;
});
const kinds: readonly Kind[] = [
  ...some(8, { name: "busy", requester: kept, pausesMs: [0, 0], takesMs: short }),
  ...some(4, { name: "quick", requester: kept, pausesMs: [25, 25], takesMs: short }),
  ...some(8, { name: "pausing", requester: kept, pausesMs: [0, 1500], takesMs: short }),
  ...some(8, { name: "slow", requester: kept, pausesMs: [1000, 1000], takesMs: short }),
  ...some(4, { name: "new", requester: fresh, pausesMs: [0, 0], takesMs: short }),
  ...(long === undefined ? [] : longKinds(Number(long))),
  ...(grpcPort === undefined ? [] : http2Kinds()),
];
for (const { requester } of new Map(kinds.map((kind) => [kind.requester, kind])).values()) await begin(requester());
console.log("under load");
await Promise.all(kinds.map((kind, client) => live(client, kind)));
const outcome: Outcome = { sent, losses, pods: [...pods] };
console.log(JSON.stringify(outcome));
process.exit(0); // connections of HTTP/2 are still open
