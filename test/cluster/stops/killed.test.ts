import { afterAll, beforeAll, describe, test } from "bun:test";
import { type LogLine, timeOf } from "../../harness/ebb.ts";
import { request } from "../api.ts";
import type { Namespace } from "../cluster.ts";
import { podOf, statusOf } from "../objects.ts";
import { isOwnNode, processOf } from "../rig/processes.ts";
import { type Plan, ports, specOf, stage, start } from "./pods.ts";
import { expectGone, linesOf, pathOf, type Stopped, stop } from "./stop.ts";

// An app that ends in the hold without a word, while it drains.

let here: Namespace;

beforeAll(async () => {
  here = await stage();
});

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

/** Deletes a pod, with a request in flight that outlasts the test, and does something to it once its proxy is held. */
async function endedInHold(name: string, plan: Partial<Plan>, act: () => Promise<unknown>): Promise<Stopped> {
  await start(here, podOf(name, specOf({ needsMs: [30_000], ...plan })));
  return await stop(here, name, {
    clientsMs: [20_000],
    during: async (log) => {
      await here.until("it is held", () => log("envoy").includes("holding the proxy"));
      await here.until("it drains", () => log("app").includes("draining"));
      await act();
    },
  });
}

function expectLetGo(what: string, end: Stopped, since: number): void {
  const [letGo] = linesOf(end, "envoy", "the apps have ended: letting the proxy go");
  console.log(`${what}: the hold ends after ${timeOf(letGo as LogLine) - since} ms`);
  expectGone(what, end, since);
}

describe("the proxy is let go at once, and the pod is gone, when in the hold SIGKILL ends", () => {
  test.skipIf(!isOwnNode).concurrent.each<readonly [string, string, string, Plan["spec"]]>([
    ["app", "the app", "/bun", {}],
    ["ebb", "ebb run, where PIDs are shared", "/ebb", { shareProcessNamespace: true }],
    ["first", "the container's PID 1, ebb run", "/ebb", {}],
  ])("%s: %s", async (name, what, program, spec = {}) => {
    let since = Number.NaN;
    const end = await endedInHold(name, { spec }, async () => {
      const id = statusOf(await here.pod(name), "app")?.containerID ?? "";
      const pid = processOf(id, program);
      since = Date.now();
      process.kill(pid, "SIGKILL");
    });
    expectLetGo(`SIGKILL to ${what}`, end, since);
  });

  test.concurrent("the app, out of memory", async () => {
    let since = Number.NaN;
    const end = await endedInHold("greedy", { app: { resources: { limits: { memory: "192Mi" } } } }, () => {
      since = Date.now();
      return request("GET", pathOf(here, `greedy:${ports.app}/proxy/greedy`));
    });
    expectLetGo("the app, out of memory", end, since);
  });
});
