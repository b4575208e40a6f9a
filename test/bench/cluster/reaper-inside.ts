// bun reaper-inside.ts OUTPUT quick|all measures the reaper in the namespaces of a cluster of which only the API server
// runs (test/bench/cluster/reaper.ts), and writes JSON to the file OUTPUT.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, connect, type KubeObject, type List } from "../../../src/cluster/api/client.ts";
import { network } from "../../cluster/rig/place.ts";
import { type LogLine, logOf, startEbb, until } from "../../harness.ts";
import { takes } from "../../time.ts";
import { collectLog } from "../../unit/cluster/collect-log.ts";

/** The result of reaping that many pods. */
export interface Reaped {
  /** The method, and what else was different. */
  readonly name: string;
  /** The number of pods. */
  readonly pods: number;
  /** The seconds from the reaper's start until all have ended. */
  readonly seconds: number;
  /** The number of the reaper's requests to the API server. */
  readonly requests: number;
  /** The number of streams that it opened. */
  readonly streams: number;
  /** The processor time of the reaper. */
  readonly cpuSeconds: number;
  /** The reaper's memory at the end, in MB of 10^6 bytes. */
  readonly rssMb: number;
  /** Whether each pod's sidecar was told to end exactly once. */
  readonly isOnce: boolean;
}

const NAMESPACE = "default";
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const NODE = "stand-in";
const AT_ONCE = 16;
const LONG_MS = 600_000;

const kubeconfig = process.env.KUBECONFIG as string;
const fast = ["--qps", "1000"];

const [, , output = "", extent] = process.argv;
const counts = extent === "quick" ? [20, 40] : [125, 250, 500];

async function main(): Promise<readonly Reaped[]> {
  const api = await connect({ env: {}, kubeconfig }, collectLog());
  const told = new Map<string, number>();
  let streams = 0;
  const tell = async (name: string): Promise<void> => {
    told.set(name, (told.get(name) ?? 0) + 1);
    await api.patch(`${PODS}/${name}/status`, [{ op: "replace", path: "/status", value: statusOf(true) }]);
  };
  const port = startKubelet(tell, () => {
    streams += 1;
  });
  await prepare(api, port);
  startEphemerals(api, tell).catch((error) => {
    console.error(error);
    process.exit(1);
  });
  const measure = async (method: string, pods: number, name = method, flags = fast): Promise<Reaped> => {
    told.clear();
    streams = 0;
    const names = Array.from({ length: pods }, (_, at) => `${method}-${pods}-${at}`);
    await each(names, (one) => createStuck(api, one));
    const used = await reapAll(pods, ["--methods", method, ...flags]);
    await each(names, (one) => api.delete(`${PODS}/${one}?gracePeriodSeconds=0`));
    const isOnce = told.size === pods && [...told.values()].every((times) => times === 1);
    return { name, pods, ...used, streams, isOnce };
  };
  const reaped: Reaped[] = [];
  for (const method of ["port-forward", "ephemeral"]) {
    for (const count of counts) reaped.push(await measure(method, count));
  }
  reaped.push(await measure("port-forward", counts[0] as number, "port-forward, --qps 20", []));
  return reaped;
}

/** Creates a node at which the API server finds the stand-in for a kubelet, and the account that pods need. */
async function prepare(api: ApiClient, port: number): Promise<void> {
  const account = `/api/v1/namespaces/${NAMESPACE}`;
  await until("the namespace", () => api.get(account).catch(() => undefined), LONG_MS);
  await api.create(`${account}/serviceaccounts`, { metadata: { name: "default" } });
  await api.create("/api/v1/nodes", { metadata: { name: NODE } });
  const status = {
    addresses: [{ type: "InternalIP", address: network.node }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await api.patch(`/api/v1/nodes/${NODE}/status`, [{ op: "replace", path: "/status", value: status }]);
}

/** Starts a stand-in for a kubelet, and returns its port: a request through port-forward ends the pod's sidecar. */
function startKubelet(tell: (name: string) => Promise<void>, opened: () => void): number {
  const pki = (file: string): string => readFileSync(join(kubeconfig, "..", "pki", file), "utf8");
  const server = Bun.serve<{ readonly name: string; readonly port: number }>({
    hostname: network.node,
    port: 0,
    tls: { cert: pki("kubelet.crt"), key: pki("kubelet.key") },
    fetch(request, server) {
      const { pathname, searchParams } = new URL(request.url);
      const [, name] = /^\/portForward\/[^/]+\/([^/]+)/.exec(pathname) ?? [];
      const protocol = request.headers.get("sec-websocket-protocol");
      if (name === undefined || protocol === null) return new Response(pathname, { status: 404 });
      const data = { name, port: Number(searchParams.get("port")) };
      const headers = { "sec-websocket-protocol": protocol };
      return server.upgrade(request, { data, headers }) ? undefined : new Response("no upgrade", { status: 400 });
    },
    websocket: {
      open(socket) {
        opened();
        const { port } = socket.data;
        for (const channel of [0, 1]) socket.sendBinary(Buffer.of(channel, port & 255, port >> 8));
      },
      async message(socket) {
        await tell(socket.data.name);
        socket.sendBinary(Buffer.from("\u0000HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n"));
        socket.close();
      },
    },
  });
  return server.port as number;
}

/** Ends the sidecar of each pod into which an ephemeral container is put, as that would. Never resolves. */
async function startEphemerals(api: ApiClient, tell: (name: string) => Promise<void>): Promise<void> {
  const seen = new Set<unknown>();
  const { signal } = new AbortController();
  for (;;) {
    const { resourceVersion } = (await api.get<List<KubeObject>>(PODS)).metadata;
    for await (const { object } of api.watch(PODS, { resourceVersion }, signal)) {
      const { spec, metadata } = object as KubeObject & { readonly spec?: { readonly ephemeralContainers?: object[] } };
      if (spec?.ephemeralContainers === undefined || seen.has(metadata.uid)) continue;
      seen.add(metadata.uid);
      await tell(metadata.name);
    }
  }
}

async function createStuck(api: ApiClient, name: string): Promise<void> {
  await api.create(PODS, {
    metadata: { name, annotations: { "ebb.dev/reap": "true" } },
    spec: {
      nodeName: NODE,
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: "app", image: "registry.example.com/app:1" },
        { name: "envoy", image: "envoyproxy/envoy:v1.36.0" },
      ],
    },
  });
  await api.patch(`${PODS}/${name}/status`, [{ op: "replace", path: "/status", value: statusOf(false) }]);
}

function statusOf(isOver: boolean): object {
  const startedAt = "2026-01-01T00:00:00Z";
  const terminated = { exitCode: 0, reason: "Completed", startedAt, finishedAt: "2026-01-01T00:00:10Z" };
  const container = (name: string, state: object) => ({
    ...{ name, state, image: name, imageID: name, restartCount: 0, ready: false },
  });
  return {
    phase: isOver ? "Succeeded" : "Running",
    startTime: startedAt,
    containerStatuses: [
      container("app", { terminated }),
      container("envoy", isOver ? { terminated } : { running: { startedAt } }),
    ],
  };
}

type Used = Omit<Reaped, "name" | "pods" | "streams" | "isOnce">;

/** Runs `ebb reaper` until it has ended that many pods. */
async function reapAll(pods: number, flags: readonly string[]): Promise<Used> {
  const start = performance.now();
  const more = ["--image", "registry.example.com/ebb:1", "--health-listen", "127.0.0.1:0"];
  await using reaper = startEbb(["reaper", "--kubeconfig", kubeconfig, ...more, ...flags]);
  const endedEarly = reaper.ended.then(({ code, stderr }) => {
    throw new Error(`ebb reaper: exit code ${code}\n${stderr}`);
  });
  const lineOf = (msg: string): LogLine | undefined =>
    logOf(reaper.stderr().slice(0, reaper.stderr().lastIndexOf("\n") + 1)).find((line) => line.msg === `ebb: ${msg}`);
  const serving = until("it answers probes", () => lineOf("serving probes and metrics"), LONG_MS);
  const { port } = await Promise.race([serving, endedEarly]);
  const read = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sum = (text: string, metric: string): number =>
    [...text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
      (all, [, one]) => all + Number(one),
      0,
    );
  const text = await until(
    `${pods} have ended`,
    async () => {
      const now = await read();
      if (sum(now, 'ebb_reaper_attempts_total\\{outcome="ended"\\}') === pods) return now;
      await takes(20);
      return undefined;
    },
    LONG_MS,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${reaper.stderr().slice(-3000)}`);
  });
  const seconds = (performance.now() - start) / 1000;
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${reaper.pid}/status`, "utf8")) ?? [];
  reaper.kill("SIGTERM");
  await reaper.ended;
  return {
    seconds,
    requests: sum(text, "ebb_reaper_api_requests_total"),
    cpuSeconds: sum(text, "process_cpu_seconds_total"),
    rssMb: (Number(kb) * 1024) / 1e6,
  };
}

/** Does the work for each name, 16 at a time. */
async function each(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  const left = [...names];
  const take = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) await work(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}

writeFileSync(output, JSON.stringify(await main()));
process.exit(0); // the stand-ins go on
