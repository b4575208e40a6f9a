// bun soak-inside.ts FILE EBB MS quick|all lets a webhook and a reaper work for MS, under load, while the API server is
// killed and CAs are replaced, in a cluster of which only the API server runs (soak.ts). Each minute is in FILE
// at once, as one of the executable EBB; the logs of the two are beside it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError, isTransient } from "../../../src/cluster/api/api-error.ts";
import { type ApiClient, findApiServer } from "../../../src/cluster/api/client.ts";
import { issueAuthority } from "../../../src/cluster/certificates/issue.ts";
import { apiServerCommand, type SecondApiServer, secondApiServer } from "../../cluster/reaper/second-api-server.ts";
import { ask } from "../../cluster/rig/control-plane.ts";
import { freePort } from "../../harness/free-port.ts";
import { takes } from "../../harness/time.ts";
import { collectLog } from "../../unit/cluster/collect-log.ts";
import { median } from "../statistics.ts";
import { changePod, createPod, endApp, namesOf, ofJob } from "./pods.ts";
import { addMinute } from "./soak-record.ts";
import { type Service, startService } from "./soak-services.ts";
import * as kubelet from "./stand-in-kubelet.ts";

const [, , file = "", ebb = "", ms = "", extent] = process.argv;
const isQuick = extent === "quick";
const SECRET = "ebb-webhook-certificates";
const OTHERS = 1000;
const JOB_EVERY_MS = 120; // 500 a minute
const MOST_JOBS = 400;
const LONGEST_WAIT_MS = 180_000;
const LOOK_AGAIN_MS = 250;
const MINUTE_MS = isQuick ? 5000 : 60_000;
const RESTART_MS = isQuick ? 20_000 : 600_000;
/**
 * How often a CA that ends soon is put in the place of the one in the Secret. Its life: after two thirds of it the
 * webhook makes the next one, so that CAs are replaced twice as often.
 */
const PLANT_MS = isQuick ? 60_000 : 1_200_000;
const LIFE_MS = (3 / 4) * PLANT_MS;
const place = (...path: string[]): string => join(kubelet.kubeconfig, "..", ...path);

const soak = new Date().toISOString();
const counts = { injected: 0, ended: 0, restarts: 0 };
let planted = 0;
const wrong: Record<string, number> = {};
/** What is called when the sidecar of a pod is asked to exit, by the pod's name. */
const asked = new Map<string, () => void>();
let waits: number[] = [];
/** Counts each start and end of the API server: what it refuses in between is nobody's fault. */
let turns = 0;

function blame(what: string): void {
  console.log(`soak: ${what}`);
  wrong[what] = (wrong[what] ?? 0) + 1;
}

async function main(): Promise<void> {
  const first = await findApiServer({ env: {}, kubeconfig: kubelet.kubeconfig }, collectLog());
  await kubelet.prepare(
    first,
    kubelet.startKubelet(
      async (name) => asked.get(name)?.(),
      () => undefined,
    ),
  );
  await using server = await startServer();
  const kubeconfig = place("soak.kubeconfig");
  const own = readFileSync(kubelet.kubeconfig, "utf8").replaceAll(first.server, `https://127.0.0.1:${server.port}`);
  writeFileSync(kubeconfig, own);
  const api = await findApiServer({ env: {}, kubeconfig }, collectLog());
  const others = namesOf("web", OTHERS);
  await kubelet.each(others, (name) => createPod(api, name, {}));
  const webhook = await startWebhook(first, kubeconfig);
  const flags = ["--kubeconfig", kubeconfig, "--all-jobs", "--methods", "port-forward", "--qps", "50"];
  const reaper = await start("reaper", ...flags);
  const end = performance.now() + Number(ms);
  const working = [restartAgain(server, end), recordAgain(webhook, reaper, end), load(api, others, end)];
  await Promise.all([...working, plantAgain(api, end)]);
  for (const service of [webhook, reaper]) {
    const code = await service.stop();
    if (code !== 0) throw new Error(`exit code ${code} after SIGTERM`);
  }
}

async function startServer(): Promise<SecondApiServer> {
  const isReady = async (port: number): Promise<boolean> =>
    (await ask(place, "/readyz", `https://127.0.0.1:${port}`).catch(() => undefined))?.ok ?? false;
  const server = await secondApiServer(apiServerCommand() ?? [], isReady);
  await server.start();
  return server;
}

function start(name: string, ...flags: readonly string[]): Promise<Service> {
  return startService([name, ...flags], `${file}-${soak}-${name}.log`, (code) => blame(`${name} ended with ${code}`));
}

/** Starts the webhook, and registers it for pods that ask for ebb: without it they are refused. */
async function startWebhook(api: ApiClient, kubeconfig: string): Promise<Service> {
  const listen = `127.0.0.1:${await freePort()}`;
  const registration = {
    name: "inject.ebb.dev",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    clientConfig: { url: `https://${listen}/mutate` },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    matchConditions: [
      {
        name: "asks",
        expression: "has(object.metadata.annotations) && 'ebb.dev/inject' in object.metadata.annotations",
      },
    ],
  };
  const registrations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  await api.create(registrations, { metadata: { name: "ebb-webhook" }, webhooks: [registration] });
  const secrets = `/api/v1/namespaces/${kubelet.NAMESPACE}/secrets`;
  await api.create(secrets, { metadata: { name: SECRET } });
  const own = ["--kubeconfig", kubeconfig, "--namespace", kubelet.NAMESPACE, "--listen", listen];
  return await start("webhook", ...own, "--certificate-names", "127.0.0.1");
}

/** Kills the API server, and starts it again, in the middle between two CAs. */
async function restartAgain(server: SecondApiServer, end: number): Promise<void> {
  for (let next = performance.now() + RESTART_MS / 2; next < end; next += RESTART_MS) {
    await takes(next - performance.now());
    turns += 1;
    await server.kill();
    await server.start();
    turns += 1;
    counts.restarts += 1;
  }
}

/** Replaces the CA in the Secret, and waits for that while the API server is gone. */
async function plantAgain(api: ApiClient, end: number): Promise<void> {
  const path = `/api/v1/namespaces/${kubelet.NAMESPACE}/secrets/${SECRET}`;
  for (let next = performance.now() + PLANT_MS / 2; next < end; next += PLANT_MS) {
    await takes(next - performance.now());
    const { cert, key } = issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + LIFE_MS });
    const data = { "ca.crt": Buffer.from(cert).toString("base64"), "ca.key": Buffer.from(key).toString("base64") };
    await persist(async () => void (await api.patch(path, [{ op: "add", path: "/data", value: data }])));
    planted += 1;
  }
}

async function recordAgain(webhook: Service, reaper: Service, end: number): Promise<void> {
  const begin = performance.now();
  for (let minute = 1; performance.now() + MINUTE_MS <= end; minute += 1) {
    await takes(MINUTE_MS);
    const lines = webhook.lines();
    const count = (msg: string): number => lines.filter((line) => line.msg === `ebb: ${msg}`).length;
    addMinute(file, {
      ...{ ebb, soak, minute, ...counts, wrong },
      seconds: (performance.now() - begin) / 1000,
      webhook: await webhook.held(),
      reaper: await reaper.held(),
      certificates: count("serving with a new certificate"),
      authorities: planted + count("created a CA"),
      medianWait: median(waits),
      longestWait: Math.max(...waits),
    });
    waits = [];
  }
}

/** Creates pods that ask for ebb, Jobs that get stuck, and changes of other pods, 500 of each a minute. */
async function load(api: ApiClient, others: readonly string[], end: number): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let at = 0; performance.now() < end; at += 1) {
    await takes(JOB_EVERY_MS);
    if (running.size >= MOST_JOBS) continue; // the API server is gone
    const all = Promise.all([
      inject(api, at),
      runJob(api, `job-${at}`),
      persist(() => changePod(api, others[at % others.length] as string)),
    ]);
    const one: Promise<void> = all.catch((error: Error) => blame(error.message)).then(() => void running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
}

/** Has a pod admitted that asks for ebb. It is not stored. */
async function inject(api: ApiClient, at: number): Promise<void> {
  const turn = turns;
  const pod = {
    metadata: { name: `asking-${at}`, annotations: { "ebb.dev/inject": "true" } },
    spec: { containers: [{ name: "app", image: "registry.example.com/app:1", command: ["/app"] }] },
  };
  try {
    const made = await api.create(`${kubelet.PODS}?dryRun=All`, pod, { retries: 0 });
    if (!JSON.stringify(made).includes("ebb-install")) throw new Error("a pod is without ebb");
    counts.injected += 1;
  } catch (error) {
    if (!isDisturbed(turn)) throw error;
  }
}

/** Runs a Job's pod until its app has ended; the reaper has to end its sidecar. */
async function runJob(api: ApiClient, name: string): Promise<void> {
  await persist(() => createPod(api, name, ofJob(name)));
  const { promise: told, resolve } = Promise.withResolvers<boolean>();
  asked.set(name, () => resolve(true));
  const since = performance.now();
  await persist(() => endApp(api, name));
  if ((await Promise.race([told, takes(LONGEST_WAIT_MS)])) !== true) throw new Error("a Job is stuck");
  waits.push((performance.now() - since) / 1000);
  asked.delete(name);
  await persist(() => kubelet.setStatus(api, name, kubelet.statusOf("nothing", kubelet.STARTED_AT)));
  await persist(() => kubelet.deletePod(api, name));
  counts.ended += 1;
}

/** Does it, and again while the API server is gone; it may have been done already. */
async function persist(act: () => Promise<void>): Promise<void> {
  const turn = turns;
  for (const end = performance.now() + LONGEST_WAIT_MS; ; await takes(LOOK_AGAIN_MS)) {
    try {
      return await act();
    } catch (error) {
      const isDone = error instanceof ApiError && ["AlreadyExists", "NotFound"].includes(error.reason);
      if (isDone && isDisturbed(turn)) return;
      if (!isTransient(error) || performance.now() > end) throw error;
    }
  }
}

/** Reports whether the API server was gone at `turn`, or has been since. */
function isDisturbed(turn: number): boolean {
  return turn !== turns || turn % 2 === 1;
}

await main();
process.exit(0); // the stand-in goes on
