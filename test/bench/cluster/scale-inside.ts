// bun scale-inside.ts OUTPUT quick|all measures the reaper in a cluster of many pods of which only the API server runs
// (test/bench/cluster/scale.ts), and writes JSON to the file OUTPUT.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiClient, findApiServer } from "../../../src/cluster/api/client.ts";
import { ask } from "../../cluster/rig/control-plane.ts";
import { sumOf } from "../../harness/metrics.ts";
import { takes } from "../../harness/time.ts";
import { collectLog } from "../../unit/cluster/collect-log.ts";
import { median } from "../statistics.ts";
import { type MeasuredReaper, startMeasured } from "./measured-reaper.ts";
import { changePod, createPod, endApp, namesOf, ofJob } from "./pods.ts";
import {
  deletePod,
  each,
  kubeconfig,
  PODS,
  prepare,
  STARTED_AT,
  setStatus,
  startKubelet,
  statusOf,
} from "./stand-in-kubelet.ts";

/** What a reaper costs in a cluster of many pods, 200 of them of Jobs, all of which become stuck at once. */
export interface Scaled {
  readonly flags: string;
  readonly pods: number;
  /** The length of a pod in the API server's JSON. */
  readonly podBytes: number;
  /** From its start until all pods are listed. */
  readonly list: {
    readonly seconds: number;
    readonly requests: number;
    readonly cpuSeconds: number;
    /** The processor time of the API server. */
    readonly serverCpuSeconds: number;
  };
  /** In MB of 10^6 bytes: after that list, at the end, and the most. */
  readonly memory: { readonly listed: number; readonly last: number; readonly most: number };
  /** The share of a processor that it takes while nothing changes. */
  readonly quietShare: number;
  /** Its processor time for a change of an ordinary pod's status. */
  readonly changeCpuMs: number;
  /** Seconds from the status that says that a Job's app has ended until the sidecar's shutdown request. */
  readonly asked: { readonly first: number; readonly median: number; readonly last: number };
  /** For each Job: its requests to the API server, streams too, and its processor time. */
  readonly job: { readonly requests: number; readonly cpuMs: number };
}

const [, , output = "", extent] = process.argv;
const isQuick = extent === "quick";
const sizes = isQuick ? [1000] : [1000, 10_000];
const JOBS = 200;
const CHANGES = 2000;
const QUIET_MS = 20_000;
const LOOK_MS = 250;
const ways = ["--qps 200 --selector batch.kubernetes.io/job-name", "--qps 200", ""];
const LISTED = "ebb_reaper_last_sync_timestamp_seconds";
const ENDED = 'ebb_reaper_attempts_total\\{outcome="ended"\\}';

/** When each pod's sidecar was asked to exit, in milliseconds of the monotonic clock. */
const askedAt = new Map<string, number>();

async function main(): Promise<readonly Scaled[]> {
  const api = await findApiServer({ env: {}, kubeconfig }, collectLog());
  const tell = async (name: string): Promise<void> => {
    askedAt.set(name, performance.now());
    await setStatus(api, name, statusOf("nothing", STARTED_AT));
  };
  const kubelet = startKubelet(tell, () => undefined);
  await prepare(api, kubelet);
  const scaled: Scaled[] = [];
  const others: string[] = [];
  for (const size of sizes) {
    const more = namesOf(`web-${size}`, size - JOBS - others.length);
    await each(more, (name) => createPod(api, name, {}));
    others.push(...more);
    for (const [at, flags] of ways.entries()) {
      const jobs = namesOf(`job-${size}-${at}`, JOBS);
      await each(jobs, (name) => createPod(api, name, ofJob(name)));
      const listsAgain = !isQuick && size === sizes.at(-1) && flags === ways.at(-1);
      scaled.push({ flags, pods: size, ...(await measure(api, { flags, others, jobs, listsAgain })) });
      console.log(`scale: ${size} pods, ${flags || "no flags"}: done`);
      await each(jobs, (name) => deletePod(api, name));
    }
  }
  return scaled;
}

interface Setting {
  readonly flags: string;
  /** The pods that belong to no Job, and those that do. */
  readonly others: readonly string[];
  readonly jobs: readonly string[];
  /** Whether the memory at the end is that after a second list, which comes after 8 to 12 minutes. */
  readonly listsAgain: boolean;
}

async function measure(api: ApiClient, setting: Setting): Promise<Omit<Scaled, "flags" | "pods">> {
  const serverBefore = await serverCpuSeconds();
  const start = performance.now();
  const flags = setting.flags.split(" ").filter((word) => word !== "");
  await using reaper = await startMeasured(["--all-jobs", "--methods", "port-forward", ...flags]);
  await reaper.reaches(LISTED, (at) => at > 0, 100);
  const list = {
    seconds: (performance.now() - start) / 1000,
    requests: await requests(reaper),
    cpuSeconds: await cpuSeconds(reaper),
    serverCpuSeconds: (await serverCpuSeconds()) - serverBefore,
  };
  const quietSeconds = await cpuDuring(reaper, () => takes(QUIET_MS));
  const listed = reaper.memoryMb("VmRSS");
  const changed = setting.others.slice(0, CHANGES);
  const changeSeconds = await cpuDuring(reaper, async () => {
    await each(changed, (name) => changePod(api, name));
    await takes(1000); // the last changes are on their way
  });
  const ended = await endAll(api, setting.jobs, reaper);
  const before = await reaper.sum(LISTED);
  if (setting.listsAgain) await reaper.reaches(LISTED, (at) => at > before, 1000);
  const last = reaper.memoryMb("VmRSS");
  return {
    podBytes: JSON.stringify(await api.get(`${PODS}/${setting.others[0]}`)).length,
    list,
    memory: { listed, last, most: reaper.memoryMb("VmHWM") },
    quietShare: (1000 * quietSeconds) / QUIET_MS,
    changeCpuMs: (1000 * changeSeconds) / changed.length,
    ...ended,
  };
}

/** Ends the apps of all Jobs at once, and waits until the reaper has ended their sidecars. */
async function endAll(
  api: ApiClient,
  jobs: readonly string[],
  reaper: MeasuredReaper,
): Promise<Pick<Scaled, "asked" | "job">> {
  askedAt.clear();
  const before = await requests(reaper);
  const stuckAt = new Map<string, number>();
  const cpu = await cpuDuring(reaper, async () => {
    await each(jobs, async (name) => {
      stuckAt.set(name, performance.now());
      await endApp(api, name);
    });
    await reaper.reaches(ENDED, (sum) => sum === jobs.length, LOOK_MS);
  });
  const sent = (await requests(reaper)) - before;
  const waits = jobs.map((name) => ((askedAt.get(name) ?? Number.NaN) - (stuckAt.get(name) ?? 0)) / 1000);
  return {
    asked: { first: Math.min(...waits), median: median(waits), last: Math.max(...waits) },
    job: { requests: sent / jobs.length, cpuMs: (1000 * cpu) / jobs.length },
  };
}

function requests(reaper: MeasuredReaper): Promise<number> {
  return reaper.sum("ebb_reaper_api_requests_total");
}

function cpuSeconds(reaper: MeasuredReaper): Promise<number> {
  return reaper.sum("process_cpu_seconds_total");
}

async function cpuDuring(reaper: MeasuredReaper, work: () => Promise<unknown>): Promise<number> {
  const before = await cpuSeconds(reaper);
  await work();
  return (await cpuSeconds(reaper)) - before;
}

async function serverCpuSeconds(): Promise<number> {
  const text = await (await ask((...path) => join(kubeconfig, "..", ...path), "/metrics")).text();
  return sumOf(text, "process_cpu_seconds_total");
}

writeFileSync(output, JSON.stringify(await main()));
process.exit(0); // the stand-in goes on
