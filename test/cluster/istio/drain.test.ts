import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { images, type Namespace, namespace, serviceAddress } from "../cluster.ts";
import { hasCondition, type Pod, podOf, serviceOf } from "../objects.ts";
import { programs } from "../programs.ts";
import { type Installation, inject, startInstallation } from "../webhook/installation.ts";
import { installed, withEbb } from "../webhook/installed.ts";
import { injected, proxyEnvironment, sidecarKind, startIstio } from "./istio.ts";

// `ebb drain` and `ebb status` beside a real pilot-agent and its Envoy, which have their configuration from a real istiod, with
// Istio's defaults: few statistics, listeners by LDS, inbound clusters without hosts before their first traffic.

const MIN_MS = 1000;
const REQUEST_MS = 5000;
const POLL_MS = 1000;
/** For what a busy machine takes. */
const SLACK_MS = 1500;
/** What Kubernetes takes from the app's end on. */
const GONE_MS = 4000;
const PORT = 8081;
const serving = { restartPolicy: "Always", terminationGracePeriodSeconds: 60 } as const;
const kinds = [
  { name: "ordinary", what: "an ordinary container", annotations: sidecarKind(false) },
  { name: "native", what: "a native container", annotations: sidecarKind(true) },
  // it publishes its connections, and not its requests
  {
    name: "waiting",
    what: "an ordinary container with EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
    annotations: { ...sidecarKind(false), ...proxyEnvironment({ EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "true" }) },
  },
] as const;

let here: Namespace;
let webhook: Installation;

beforeAll(async () => {
  [webhook] = await Promise.all([startInstallation({ webhook: { replicas: 1 } }), startIstio()]);
  here = await namespace(injected);
  await here.apply([
    programs.configMap("server.ts", "idle.ts"),
    serviceOf("ordinary", { http: PORT }), // what is no Service's passes through another cluster of Istio's
    ...kinds.map(server),
  ]);
  for (const { name } of kinds)
    await here.until("it is ready", async () => hasCondition(await here.pod(name), "Ready"));
}, 300_000);

afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
  await webhook?.[Symbol.asyncDispose]();
});

function server({ name, annotations }: (typeof kinds)[number]) {
  const app = withEbb(programs.container("app", "server.ts", "0.0.0.0"));
  const spec = {
    initContainers: [installed.container],
    containers: [app],
    volumes: [installed.volume, programs.volume],
  };
  return podOf(name, spec, { labels: { app: name }, annotations });
}

describe.each([...kinds])("beside Istio's sidecar as $what,", ({ name }) => {
  const ebb = (...words: readonly string[]) => here.exec(name, "app", installed.path, ...words);

  test("ebb status shows it as it is, and finds nothing amiss", async () => {
    const { stdout } = await ebb("status", "--json");
    const { sidecars, findings } = JSON.parse(stdout);
    expect(sidecars).toMatchObject([
      { name: "istio", native: name === "native", ready: true, envoy: { state: "LIVE", problems: [] } },
    ]);
    const { listeners } = sidecars[0].envoy;
    for (const [listener, direction] of [
      ["virtualInbound", "inbound"],
      ["virtualOutbound", "outbound"],
    ])
      expect(listeners).toContainEqual(expect.objectContaining({ name: listener, direction }));
    expect(findings).toEqual([]);
  });

  test("a request of 5 s holds it as long, an idle connection that is kept does not", async () => {
    const client = await idleClient(name);
    const asked = here.exec(client, "client", "/bun", "-e", await asking(name, REQUEST_MS));
    await here.until("the request is under way", async () => {
      const { stdout } = await ebb("request", "/clusters");
      return /^inbound.*::rq_active::1$/im.test(stdout);
    });
    const { code, outcome, tookMs, inFlight } = await drained(name);
    expect({ code, outcome }).toEqual({ code: 0, outcome: "drained" });
    expect(inFlight).toEqual([1, 0]);
    expect(tookMs).toBeGreaterThan(MIN_MS + POLL_MS);
    expect(tookMs).toBeLessThan(REQUEST_MS + POLL_MS + SLACK_MS);
    expect((await asked).stdout).toBe("200 close\n");
    expect(await here.logs(client, "client")).toBe("idle\n");
  });

  test("an idle drain ends after the minimum and one look", async () => {
    const { code, outcome, tookMs } = await drained(name);
    expect({ code, outcome }).toEqual({ code: 0, outcome: "drained" });
    expect(tookMs).toBeGreaterThanOrEqual(MIN_MS);
    expect(tookMs).toBeLessThan(MIN_MS + POLL_MS + SLACK_MS);
  });

  test("a pod that has drained stays in its endpoints: pilot-agent goes on answering that it is ready", async () => {
    const ready = await Promise.all(
      [15020, 15021].map((port) => ebb("request", `http://localhost:${port}/healthz/ready`)),
    );
    expect(ready.map(({ code }) => code)).toEqual([0, 0]);
    expect(hasCondition(await here.pod(name), "Ready")).toBe(true);
  });
});

describe("a pod that is deleted, with ebb and nothing under way, is gone after the minimum and one look", () => {
  test.concurrent.each([
    ["beside an ordinary sidecar, whose pilot-agent does not drain again", false],
    ["beside a native one", true],
  ] as const)("%s", async (_, isNative) => {
    await using there = await webhook.namespace(injected);
    const annotations = { ...inject, "ebb.dev/min-drain": `${MIN_MS}ms`, ...sidecarKind(isNative) };
    const app = { name: "app", image: images.app, command: ["/child", "record"] };
    await there.apply([podOf("one", { ...serving, containers: [app] }, { annotations })]);
    await there.until("it is ready", async () => hasCondition(await there.pod("one"), "Ready"));
    const start = performance.now();
    await there.kubectl("delete", "pod", "one");
    const ms = performance.now() - start;
    console.log(`${isNative ? "native" : "ordinary"}: gone after ${(ms / 1000).toFixed(1)} s`);
    expect(ms).toBeGreaterThan(MIN_MS);
    expect(ms).toBeLessThan(MIN_MS + POLL_MS + GONE_MS);
  });
});

test("the app's own calls through a native sidecar go on until it ends, those by HTTP on new connections", async () => {
  await using there = await webhook.namespace(injected);
  const outside = { labels: { app: "called", "sidecar.istio.io/inject": "false" } };
  const volumes = [programs.volume];
  await there.apply([
    programs.configMap("called.ts", "caller.ts"),
    podOf("called", { containers: [programs.container("called", "called.ts")], volumes }, outside),
    serviceOf("called", { http: 8081, grpc: 8082, tcp: 8083 }),
  ]);
  await there.until("it can be called", async () => hasCondition(await there.pod("called"), "Ready"));
  const app = programs.container("app", "caller.ts", await serviceAddress(there, "called"));
  const annotations = { ...inject, "ebb.dev/min-drain": "5s", ...sidecarKind(true) };
  await there.apply([podOf("caller", { ...serving, containers: [app], volumes }, { annotations })]);
  const kinds = ["http", "http2", "stream", "tcp"];
  await there.until("it calls", async () => {
    const said = await there.logs("caller", "app");
    return kinds.every((kind) => said.includes(`answered: ${kind}\n`));
  });
  const following = there.kubectl("logs", "--follow", "caller", "-c", "app");
  await there.kubectl("delete", "pod", "caller");
  const log = await following;
  expect(log.match(/^lost: .*/gm)).toBeNull();
  expect(log).toMatch(/drain_listeners\?graceful&inboundonly&skip_exit.*\/healthcheck\/fail/s);
  const drained = logOf(log).find(({ outcome }) => outcome === "drained") as LogLine;
  expect(timeOf(drained)).toBeLessThanOrEqual(Number(/^TERM (\d+)$/m.exec(log)?.[1]));
  const last = JSON.parse(/^answered to the end (.*)$/m.exec(log)?.[1] ?? "");
  for (const kind of [...kinds, "closes"]) expect(last[kind]).toBeGreaterThan(5);
}, 120_000);

interface Drained {
  readonly code: number;
  readonly outcome: unknown;
  readonly tookMs: number;
  /** Each number of requests that was seen, once. */
  readonly inFlight: readonly unknown[];
}

async function drained(pod: string): Promise<Drained> {
  const words = ["drain", "--min-drain", `${MIN_MS}ms`, "--drain", "40s"];
  const { code, stderr } = await here.exec(pod, "app", installed.path, ...words);
  const lines = (msg: string): readonly LogLine[] => logOf(stderr).filter((line) => line.msg === `ebb: ${msg}`);
  const end = lines("drain ended")[0];
  return {
    code,
    outcome: end?.outcome,
    tookMs: Number(end?.tookMs),
    inFlight: [...new Set(lines("in flight").map(({ requests }) => requests))],
  };
}

/** A pod outside the mesh with a connection to this one, which it keeps. */
async function idleClient(pod: string): Promise<string> {
  const name = `client-of-${pod}`;
  const container = programs.container("client", "idle.ts", await addressOf(pod), `${PORT}`);
  const outside = { labels: { "sidecar.istio.io/inject": "false" } };
  await here.apply([podOf(name, { containers: [container], volumes: [programs.volume] }, outside)]);
  await here.until("its connection is idle", async () => (await here.logs(name, "client")) === "idle\n");
  return name;
}

async function asking(pod: string, ms: number): Promise<string> {
  const url = `http://${await addressOf(pod)}:${PORT}/?ms=${ms}`;
  return `const { status, headers } = await fetch("${url}"); console.log(status, headers.get("connection"))`;
}

async function addressOf(pod: string): Promise<string> {
  const { status }: Pod = await here.pod(pod);
  return status.podIP ?? "";
}
