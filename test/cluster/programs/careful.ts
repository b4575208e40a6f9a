// bun careful.ts NEEDS_MS CALLEE [PORT GRPC TCP] is an app with calls of its own: the clients of mix.ts, one of each kind,
// call what CALLEE says, JSON. With ports it serves as serve.ts does. At SIGTERM it accepts nothing more, ends its streams,
// finishes what is in flight, and calls on for NEEDS_MS. What becomes of its calls is in its log.
import { once } from "node:events";
import { type Loss, startMix } from "./mix.ts";
import { serve } from "./serve.ts";

/** The log's line `calls JSON`. */
export interface Calls {
  /** The number of calls before SIGTERM. */
  readonly before: number;
  readonly after: number;
  readonly losses: readonly Loss[];
  /** When SIGTERM came, and when the app ended; in ms since 1970. */
  readonly stoppedAt: number;
  readonly endedAt: number;
}

const [needsMs = "", callee = "", port, grpc, tcp] = process.argv.slice(2);
const stops = once(process, "SIGTERM");
const served = port === undefined ? undefined : serve({ hostname: "0.0.0.0", port, grpc, tcp });
const mix = await startMix(JSON.parse(callee));
console.log("is answered");
await stops;
const stoppedAt = Date.now();
const before = mix.count();
await Promise.all([served?.end(), Bun.sleep(Number(needsMs))]);
const { losses } = await mix.end();
const calls: Calls = { before, after: mix.count() - before, losses, stoppedAt, endedAt: Date.now() };
console.log("calls", JSON.stringify(calls));
process.exit(0);
