import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { evict, images, type Namespace } from "../cluster.ts";
import { addEbb } from "../inject/add-ebb.ts";
import { podOf } from "../objects.ts";
import { type Plan, specOf, stage, start } from "./pods.ts";
import { callsOf, expectGone, expectNothingLost, linesOf, stop, usualMs, type Way } from "./stop.ts";

// Pods that are deleted: an app that `ebb run` drains and stops, beside a real Envoy that `ebb hold` keeps.

let here: Namespace;

beforeAll(async () => {
  here = await stage();
});

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

async function stopped(name: string, plan: Plan, way: Way = {}) {
  return await stop(here, await start(here, podOf(name, specOf(plan))), way);
}

const holding = "holding the proxy until the apps have ended";
const lettingGo = "the apps have ended: letting the proxy go";
const closed = "closed the inbound listeners: the apps stop, and calls out go on";

describe("a pod that is deleted loses no call of its app and no request in flight, and is gone soon:", () => {
  test.concurrent.each<readonly [string, string, Plan]>([
    ["short", "an app that needs 3 s", { needsMs: [3000] }],
    ["long", "one that needs 20 s", { needsMs: [20_000] }],
    ["two", "two apps, which need 2 and 8 s", { needsMs: [2000, 8000] }],
    [
      "hooked",
      "one with a preStop hook of its own, of 12 s",
      {
        needsMs: [3000],
        flags: ["--drain", "40s", "--pod-grace", "48s"],
        app: { lifecycle: { preStop: { exec: { command: ["/ebb", "sleep", "12s"] } } } },
      },
    ],
  ])("%s: %s", async (name, what, plan) => {
    const end = await stopped(name, plan, { clientsMs: usualMs });
    const [app = 0, other] = plan.needsMs;
    expectNothingLost(what, end, { app, ...(other === undefined ? {} : { other }) });
    expect(logOf(end.logs.envoy ?? "").map(({ msg }) => msg.replace("ebb: ", ""))).toEqual([
      holding,
      closed,
      lettingGo,
    ]);
  });

  test.concurrent.each<readonly [string, Plan, Way, Readonly<Record<string, string>>]>([
    ["server", { needsMs: [3000] }, { clientsMs: usualMs }, {}],
    ["task", { needsMs: [15_000], serves: false }, {}, { "ebb.dev/drain": "0" }],
  ])("injected-%s: the same by ebb inject", async (what, plan, way, more) => {
    const annotations = { "ebb.dev/inject": "true", ...more };
    const object = podOf(`injected-${what}`, specOf({ ...plan, isBare: true }), { annotations });
    const end = await stop(here, await start(here, await addEbb(object)), way);
    expectNothingLost(`an injected ${what}`, end, { app: plan.needsMs[0] });
    expect(linesOf(end, "envoy", holding)).toHaveLength(1);
  });

  test.concurrent("evicted: one that needs 3 s, as `kubectl drain` does it", async () => {
    const end = await stopped(
      "evicted",
      { needsMs: [3000] },
      { ask: () => evict(here, "evicted"), clientsMs: usualMs },
    );
    expectNothingLost("evicted", end, { app: 3000 });
  });

  test.concurrent("worker: one that serves nothing, and is not drained; it needs 15 s", async () => {
    const end = await stopped("worker", { needsMs: [15_000], serves: false, flags: [] });
    expectNothingLost("worker", end, { app: 15_000 });
  });

  test.concurrent("helper: beside an ebb run in a native sidecar, which ends later, and is not waited for", async () => {
    const words = ["run", "--sidecar", "envoy", "--quit-on", "never", "--no-hold", "--", "/child", "record"];
    const native = { name: "helper", image: images.appInEbb, args: words, restartPolicy: "Always" };
    const end = await stopped(
      "helper",
      { needsMs: [3000], spec: { initContainers: [native] } },
      { clientsMs: usualMs },
    );
    expectNothingLost("helper", end, { app: 3000 });
    const [let_go] = linesOf(end, "envoy", lettingGo).map(timeOf);
    const [helper] = linesOf(end, "helper", "done").map(timeOf);
    expect(let_go as number).toBeLessThan(helper as number);
  });
});

test.concurrent("the grace ends first: the hold ends with it, and so does the pod", async () => {
  const flags = ["--min-drain", "1s", "--drain", "3s"];
  const end = await stopped("patient", { needsMs: [60_000], flags, spec: { terminationGracePeriodSeconds: 10 } });
  expect(callsOf(end, "app")).toBeUndefined();
  const [signal] = linesOf(end, "app", "received a stop signal: draining");
  expectGone("the grace of 10 s ends first", end, timeOf(signal as LogLine) + 10_000);
});
