// bun careful.ts NEEDS_MS CALLEE [PORT GRPC TCP] is an app with calls of its own: the clients of mix.ts, one of each kind,
// call what CALLEE says, JSON. With ports it serves as serve.ts does. At SIGTERM it ends its streams, and goes on for NEEDS_MS:
// it serves and calls, so that what is lost meanwhile its proxy loses. What became of its calls is its termination message.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { startMix } from "./mix.ts";
import { serve } from "./serve.ts";

/** The termination message, JSON of at most 4096 bytes. */
export interface Calls {
  /** The number of calls before SIGTERM. */
  readonly before: number;
  readonly after: number;
  readonly lost: readonly LostCalls[];
  /** When the app ended, in ms since 1970. */
  readonly endedAt: number;
}

/** Calls of one kind of client that were lost for one reason. */
export interface LostCalls {
  readonly client: string;
  readonly by: string;
  readonly count: number;
  /** When the first of them was known to be lost, in ms after SIGTERM. */
  readonly firstMs: number;
}

const [needsMs = "", callee = "", port, grpc, tcp] = process.argv.slice(2);
const stops = once(process, "SIGTERM");
const served = port === undefined ? undefined : serve({ hostname: "0.0.0.0", port, grpc, tcp });
const mix = await startMix(JSON.parse(callee));
console.log("is answered");
await stops;
const stoppedAt = Date.now();
const before = mix.count();
served?.tellToGo();
await Bun.sleep(Number(needsMs));
await served?.close();
const { losses } = await mix.end();
const groups = Map.groupBy(losses, ({ client, by }) => `${client}\t${by}`);
const lost = [...groups].map(([key, [first, ...more]]): LostCalls => {
  const [client = "", by = ""] = key.split("\t");
  return { client, by, count: 1 + more.length, firstMs: Date.parse(first?.at ?? "") - stoppedAt };
});
const calls: Calls = { before, after: mix.count() - before, lost, endedAt: Date.now() };
writeFileSync("/dev/termination-log", JSON.stringify(calls));
process.exit(0);
