// bun reaper-inside.ts OUTPUT quick|all measures the reaper in the namespaces of a cluster of which only the API server
// runs (test/bench/cluster/reaper.ts), and writes JSON to the file OUTPUT.
import { writeFileSync } from "node:fs";
import { type ApiClient, findApiServer, type List } from "../../../src/cluster/api/client.ts";
import type { KubeObject } from "../../../src/cluster/api/core/objects.ts";
import { collectLog } from "../../unit/cluster/collect-log.ts";
import { startMeasured } from "./measured-reaper.ts";
import {
  deletePod,
  each,
  kubeconfig,
  NODE,
  PODS,
  prepare,
  setStatus,
  startKubelet,
  statusOf,
} from "./stand-in-kubelet.ts";

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

const ENDED_AT = "2026-01-01T00:00:10Z";
const fast = ["--qps", "1000"];

const [, , output = "", extent] = process.argv;
const counts = extent === "quick" ? [20, 40] : [125, 250, 500];

async function main(): Promise<readonly Reaped[]> {
  const api = await findApiServer({ env: {}, kubeconfig }, collectLog());
  const told = new Map<string, number>();
  let streams = 0;
  const tell = async (name: string): Promise<void> => {
    told.set(name, (told.get(name) ?? 0) + 1);
    await setStatus(api, name, statusOf("nothing", ENDED_AT));
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
    await each(names, (one) => deletePod(api, one));
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
  await setStatus(api, name, statusOf("sidecar", ENDED_AT));
}

type Used = Omit<Reaped, "name" | "pods" | "streams" | "isOnce">;

/** Runs `ebb reaper` until it has ended that many pods. */
async function reapAll(pods: number, flags: readonly string[]): Promise<Used> {
  const start = performance.now();
  await using reaper = await startMeasured(flags);
  await reaper.reaches('ebb_reaper_attempts_total\\{outcome="ended"\\}', (sum) => sum === pods, 20);
  return {
    seconds: (performance.now() - start) / 1000,
    requests: await reaper.sum("ebb_reaper_api_requests_total"),
    cpuSeconds: await reaper.sum("process_cpu_seconds_total"),
    rssMb: reaper.memoryMb("VmRSS"),
  };
}

writeFileSync(output, JSON.stringify(await main()));
process.exit(0); // the stand-ins go on
