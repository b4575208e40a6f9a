import { evict, type Namespace } from "../cluster.ts";
import { hasCondition } from "../objects.ts";
import type { Calls, LostCalls } from "../programs/careful.ts";
import type { Loss } from "../programs/mix.ts";
import { restartWeb, underLoad } from "../run/rollout.ts";
import { areAnswered, deploy, MIN_DRAIN_SECONDS, portsOf, type Roll, type Way } from "./ways.ts";

/** What became of the requests of clients, and of the calls of the apps, when the pods went. */
interface Counted {
  /** The number of clients' requests, by kind of client. */
  readonly sent: Readonly<Record<string, number>>;
  readonly lostIn: readonly Loss[];
  /** The number of the apps' calls before their SIGTERM, and after it. */
  readonly before: number;
  readonly after: number;
  readonly lostOut: readonly LostCalls[];
  /** When the deletion of each pod was seen, in ms since 1970, by its name. */
  readonly deletedAt: Readonly<Record<string, number>>;
  /** The time of each pod from its app's end until it was gone, in ms. */
  readonly goneMs: readonly number[];
  /** What the containers of these pods have written, for people. */
  readonly logs: string;
}

/** Clients of a server that is stopped: some take longer than others to hear of it, or to notice. */
const load = { longMs: 5000, pauseMs: (MIN_DRAIN_SECONDS + 3) * 1000 };

const REPLICAS = 2;

/** How the pods of a Deployment go. */
export const goings = {
  restart: { prepare: undefined, change: restartWeb },
  "scale-down": {
    async prepare(here: Namespace) {
      await scale(here, 2 * REPLICAS);
      await areAnswered(here, 2 * REPLICAS); // without a readiness probe a pod is ready while ebb waits
    },
    change: (here: Namespace) => scale(here, REPLICAS),
  },
  eviction: { prepare: undefined, change: evictAll },
} as const;

/** Deploys `web`, lets its pods go under load, by a restart unless `going` says how, and counts. A Job is deleted. */
export async function roll(
  here: Namespace,
  way: Way,
  { going = "restart", ...which }: Roll & { readonly going?: keyof typeof goings },
): Promise<Counted> {
  await deploy(here, way, which);
  const isJob = which.shape === "job";
  const { prepare, change } = goings[going];
  if (!isJob) await prepare?.(here);
  const loads = which.shape === "server" ? [{ ...portsOf(way), ...load }] : [];
  const rollout = await underLoad(here, loads, isJob ? deleteJob : change);
  const { sentBy, losses, deletedAt, goneAt, messages, logs } = rollout;
  const calls = Object.entries(messages).map(([pod, message]) => [pod, callsOf(message)] as const);
  return {
    sent: sentBy,
    lostIn: losses,
    before: sum(calls.map(([, { before }]) => before)),
    after: sum(calls.map(([, { after }]) => after)),
    lostOut: calls.flatMap(([, { lost }]) => lost),
    deletedAt,
    goneMs: calls.map(([pod, { endedAt }]) => (goneAt[pod] as number) - endedAt),
    logs,
  };
}

function callsOf(message: string): Calls {
  if (message.startsWith("{")) return JSON.parse(message);
  throw new Error(`expected the app's calls as its termination message, got "${message}"`);
}

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
    await evict(here, metadata.name);
    await haveReady(here, REPLICAS);
  }
}

async function deleteJob(here: Namespace): Promise<void> {
  await here.kubectl("delete", "job", "web", "--wait=false");
  await here.until("the Job's pods are gone", async () => (await here.pods("app=web")).length === 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
