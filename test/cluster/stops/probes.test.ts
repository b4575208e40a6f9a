import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { request } from "../api.ts";
import { images, type Namespace } from "../cluster.ts";
import { envoyAdminPort, patience } from "../envoy.ts";
import { hasCondition, podOf, statusOf } from "../objects.ts";
import { type Plan, ports, specOf, stage, start } from "./pods.ts";
import { beginClients, expectGone, linesOf, pathOf, stop } from "./stop.ts";

// Containers that the kubelet restarts, each alone, in pods that nobody deletes; and hooks that have nothing to hold for.

let here: Namespace;

beforeAll(async () => {
  here = await stage();
});

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
});

/** Probes that fail soon, once the container has started. */
const probes = (probe: object) => ({
  startupProbe: { ...probe, periodSeconds: 1, ...patience },
  livenessProbe: { ...probe, periodSeconds: 1, ...patience, failureThreshold: 2 },
});
const nothing = "nothing to hold for: no ebb run of another container runs its command";

/** Drains that do not wait for clients who never pause. */
const shortly = ["--min-drain", "1s", "--drain", "5s"];

async function ask(pod: string, port: number, path: string): Promise<number> {
  return (await request("GET", pathOf(here, `${pod}:${port}/proxy${path}`))).status;
}

async function restartsOf(pod: string, container: string): Promise<number> {
  return statusOf(await here.pod(pod), container)?.restartCount ?? 0;
}

async function previousLog(pod: string, container: string): Promise<string> {
  return (await request("GET", `${pathOf(here, pod)}/log?container=${container}&previous=true`)).text;
}

function lostIn(log: string): readonly string[] {
  return log.match(/^lost .*/gm) ?? [];
}

describe("an app that alone fails its liveness probe calls out to its end, and serves again:", () => {
  test.concurrent.each<readonly [string, string, Plan, number]>([
    ["one", "OnFailure: Envoy lives", { needsMs: [2000], restartPolicy: "OnFailure" }, 0],
    [
      "two",
      "OnFailure, with another app, which loses nothing",
      { needsMs: [2000, 1000], restartPolicy: "OnFailure" },
      0,
    ],
    ["always", "Always: Envoy is restarted, too", { needsMs: [2000], restartPolicy: "Always" }, 1],
  ])("%s: %s", async (name, what, plan, envoyRestarts) => {
    const app = probes({ httpGet: { path: "/health", port: ports.app } });
    await start(here, podOf(name, specOf({ flags: shortly, ...plan, app })));
    const endClients = plan.needsMs.length === 2 && (await beginClients(here, name, [100, 300], ports.viaEnvoy.other));
    await ask(name, ports.app, "/sick");
    await here.until("the app is restarted", async () => (await restartsOf(name, "app")) === 1);
    await here.until("the pod is ready", async () => hasCondition(await here.pod(name), "Ready"));
    const before = await previousLog(name, "app");
    console.log(`${what}: ${/^calls .*/m.exec(before)?.[0]}`);
    expect(lostIn(before)).toEqual([]);
    await here.until("it is called through Envoy", async () => (await ask(name, ports.viaEnvoy.app, "/")) === 200);
    await here.until("its calls are answered", async () => (await here.logs(name, "app")).includes("is answered"));
    expect(await restartsOf(name, "envoy")).toBe(envoyRestarts);
    if (endClients === false) return;
    expect((await endClients()).lost).toEqual({});
    expect(lostIn(await here.logs(name, "other"))).toEqual([]);
    expect(await restartsOf(name, "other")).toBe(0);
  });
});

test.concurrent("a proxy that alone fails its liveness probe is held for the pod's grace, serves meanwhile, and is back", async () => {
  const graceSeconds = 15;
  const envoy = probes({ httpGet: { path: "/health?of=proxy", port: ports.viaEnvoy.app } });
  const spec = { terminationGracePeriodSeconds: graceSeconds };
  await start(here, podOf("proxy", specOf({ needsMs: [1000], envoy, spec })));
  await ask("proxy", ports.app, "/sick?of=proxy");
  await here.until("it is held", async () => (await here.logs("proxy", "envoy")).includes("holding the proxy"));
  await ask("proxy", ports.app, "/well?of=proxy");
  const endClients = await beginClients(here, "proxy", [100, 300]);
  expect((await endClients()).lost).toEqual({});
  expect(await restartsOf("proxy", "envoy")).toBe(0);
  await here.until("it is restarted", async () => (await restartsOf("proxy", "envoy")) === 1);
  await here.until("the app is called", async () => (await ask("proxy", ports.viaEnvoy.app, "/")) === 200);
  const log = await previousLog("proxy", "envoy");
  const held = logOf(log);
  expect(held.map(({ msg }) => msg)).toEqual(["ebb: holding the proxy until the apps have ended"]); // the grace ended it
  const ended = Date.parse(`${/^\[(\S+ \S+?)\].* caught ENVOY_SIGTERM/m.exec(log)?.[1]}Z`);
  console.log(`the proxy alone fails its liveness probe: held for ${ended - timeOf(held[0] as LogLine)} ms`);
  const lost = lostIn(await here.logs("proxy", "app")).map((line) => Date.parse(line.split(" ")[1] as string));
  for (const at of lost) expect(at).toBeGreaterThanOrEqual(ended);
  expect(await restartsOf("proxy", "app")).toBe(0);
});

describe("a hold that has nothing to hold for ends at once:", () => {
  test.concurrent("where the app is in its crash loop", async () => {
    const command = ["/ebb", "run", "--sidecar", "envoy", "--restart-policy", "OnFailure", "--", "/child", "exit", "3"];
    const app = { image: images.appInEbb, command };
    const restartPolicy = "OnFailure";
    await here.apply([podOf("crashing", specOf({ needsMs: [0], serves: false, restartPolicy, app }))]);
    await here.until("the app is in its crash loop", async () => {
      const { state } = statusOf(await here.pod("crashing"), "app") ?? {};
      return state?.waiting?.reason === "CrashLoopBackOff";
    });
    const end = await stop(here, "crashing");
    const lines = linesOf(end, "envoy", nothing);
    expect(lines).toHaveLength(1);
    expectGone("an app in its crash loop", end, timeOf(lines[0] as LogLine));
  });

  test.concurrent("where the app still waits, and the proxy's startup probe fails", async () => {
    const startupProbe = { httpGet: { path: "/missing", port: envoyAdminPort }, periodSeconds: 1 };
    const flags = ["--ready", "tcp://127.0.0.1:1"];
    // an Envoy that starts may miss its SIGTERM
    const more = { envoy: { startupProbe }, spec: { terminationGracePeriodSeconds: 10 } };
    const spec = specOf({ needsMs: [0], serves: false, flags, ...more });
    await here.apply([podOf("waiting", spec)]);
    await here.until("the proxy is restarted", async () => (await restartsOf("waiting", "envoy")) > 0);
    expect(await here.logs("waiting", "app")).toContain("waiting until ready");
    const log = logOf(await previousLog("waiting", "envoy"));
    expect(log.map(({ msg }) => msg)).toEqual([`ebb: ${nothing}`]);
  });
});
