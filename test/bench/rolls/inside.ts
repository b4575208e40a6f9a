// bun inside.ts FILE EBB MS lets the pods of four Deployments go again and again, for MS, in the cluster of
// with-images.ts. Each roll that has ended is in FILE at once, as one of the executable EBB.
import { writeFileSync } from "node:fs";
import { request } from "../../cluster/api.ts";
import { type Namespace, namespace } from "../../cluster/cluster.ts";
import { startIstio } from "../../cluster/istio/istio.ts";
import { hasCondition } from "../../cluster/objects.ts";
import { type Rollout, restartWeb, underLoad } from "../../cluster/run/rollout.ts";
import { type Deployed, deployments } from "./deployments.ts";
import { addRoll, type Roll, readRolls } from "./record.ts";

const [, , file = "", ebb = "", ms = ""] = process.argv;
const LONG_MS = 10_000;
const REPLICAS = 2;

/** A way in which pods go. */
interface Way {
  readonly name: string;
  /** Prepares it, before there is load. */
  readonly prepare?: (here: Namespace) => Promise<void>;
  readonly change: (here: Namespace) => Promise<void>;
}

const ways: readonly Way[] = [
  { name: "restart", change: restartWeb },
  { name: "scale-down", prepare: (here) => scale(here, 2 * REPLICAS), change: (here) => scale(here, REPLICAS) },
  { name: "eviction", change: evictAll },
];

async function scale(here: Namespace, replicas: number): Promise<void> {
  await here.kubectl("scale", "deployment/web", `--replicas=${replicas}`);
  await haveReady(here, replicas);
}

async function haveReady(here: Namespace, replicas: number): Promise<void> {
  await here.until(`${replicas} pods are ready, beside those that go`, async () => {
    const staying = (await here.pods("app=web")).filter((pod) => pod.metadata.deletionTimestamp === undefined);
    return staying.length === replicas && staying.every((pod) => hasCondition(pod, "Ready"));
  });
}

/** Evicts one pod after the other, as `kubectl drain` does where a PodDisruptionBudget wants all but one available. */
async function evictAll(here: Namespace): Promise<void> {
  for (const { metadata } of await here.pods("app=web")) {
    const path = `/api/v1/namespaces/${here.name}/pods/${metadata.name}/eviction`;
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: metadata.name } };
    const { status, text } = await request("POST", path, eviction);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    await haveReady(here, REPLICAS);
  }
}

async function rollFor(deployed: Deployed, untilMs: number): Promise<void> {
  await using here = await namespace(deployed.labels);
  await here.apply(deployed.objects);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
  let turn = readRolls(file, ebb).rolls.filter(({ sidecar }) => sidecar === deployed.name).length;
  do {
    const way = ways[turn % ways.length] as Way;
    await way.prepare?.(here);
    const at = new Date().toISOString();
    const rollout = await underLoad(here, [{ ...deployed.ports, longMs: LONG_MS }], way.change);
    record({ ebb, at, sidecar: deployed.name, way: way.name, seconds: rollout.seconds, sent: rollout.sentBy }, rollout);
    turn += 1;
  } while (performance.now() < untilMs);
}

function record(roll: Roll, { sent, losses, deletedAt, logs }: Rollout): void {
  const { at, sidecar, way } = roll;
  const lost = losses.map((loss) => {
    const seconds = Object.entries(deletedAt).map(([pod, ms]) => [pod, (Date.parse(loss.at) - ms) / 1000]);
    return { ...loss, ebb, sidecar, way, roll: at, sinceDeletion: Object.fromEntries(seconds) };
  });
  addRoll(file, roll, lost);
  if (lost.length > 0) writeFileSync(`${file}-${at}.log`, logs);
  console.log(`${at} ${sidecar}, ${way}: ${lost.length} of ${sent} requests lost in ${roll.seconds.toFixed(1)} s`);
}

await startIstio();
const untilMs = performance.now() + Number(ms);
await Promise.all(deployments.map((deployed) => rollFor(deployed, untilMs)));
