import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logOf } from "../../harness/ebb.ts";
import type { Namespace } from "../cluster.ts";
import { podOf } from "../objects.ts";
import { isOwnNode, killDaemon } from "../rig/processes.ts";
import { draining, specOf, stage, start } from "./pods.ts";
import { expectNothingLost, linesOf, stop } from "./stop.ts";

let here: Namespace;

beforeAll(async () => {
  here = await stage();
});

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

/** Requests that are in flight for so long that what restarts acts again before they are answered. */
const longMs = Array(8).fill(20_000);

describe.skipIf(!isOwnNode)("a pod loses nothing when in its drain", () => {
  test.each(["kubelet", "containerd"] as const)("%s is restarted, which runs the hold again", async (daemon) => {
    const flags = [...draining, "--log-level", "debug"];
    const name = await start(here, podOf(daemon, specOf({ needsMs: [3000], flags })));
    const end = await stop(here, name, {
      clientsMs: longMs,
      during: async (log) => {
        await here.until("it drains", () => log("app").includes("received a stop signal: draining"));
        await here.until("it is held", () => log("envoy").includes("holding the proxy"));
        killDaemon(daemon);
      },
    });
    expectNothingLost(`${daemon} restarted in the drain`, end, { app: 3000 });
    expect(end.requests?.sent).toBe(longMs.length);
    expect(linesOf(end, "envoy", "holding the proxy until the apps have ended").length).toBe(2);
    const signals = logOf(end.logs.app ?? "").filter(({ msg }) => msg === "ebb: received a signal");
    // containerd forgets at its restart that it has sent one
    expect(signals.map(({ signal }) => signal)).toEqual(daemon === "kubelet" ? ["SIGTERM"] : ["SIGTERM", "SIGTERM"]);
  });
});
