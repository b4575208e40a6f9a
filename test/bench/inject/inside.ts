// bun inside.ts OUTPUT quick|all NAME=PATH... starts pods in each way, in the cluster of with-images.ts, and writes how long
// each took to OUTPUT, as JSON: an array of Started.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { changes, request } from "../../cluster/api.ts";
import { images, type Namespace, namespace } from "../../cluster/cluster.ts";
import { runProgram } from "../../cluster/kubectl.ts";
import { hasCondition, type KubeObject, type Pod, type PodSpec, podOf } from "../../cluster/objects.ts";
import { ebbPath } from "../../harness/ebb.ts";
import { shuffled } from "../statistics.ts";

/** Pods of a way that were created at once. */
export interface Started {
  readonly way: string;
  readonly count: number;
  /** From the first request until each was seen ready. */
  readonly readyMs: readonly number[];
  /** The disk that their volumes take. */
  readonly bytes: number;
}

/** A way, as a pod of it. */
type Way = readonly [name: string, pod: KubeObject];

const [, , output = "", how = "", ...others] = process.argv;
/** How many pods at once, and how often. */
const rounds = how === "quick" ? { 1: 1, 3: 1 } : { 1: 5, 10: 3, 40: 2, 100: 1 };
const volumes = "/var/lib/kubelet/pods";
const LIMIT_MS = 600_000;

const references = images as Readonly<Record<string, string>>;
const plain = podOf(
  "pod",
  {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: "app", image: images.app, command: ["/child"], args: ["record"] }],
  },
  { annotations: { "ebb.dev/sidecar": "none" } },
);

const ways = await makeWays();
await using here = await namespace();
for (const way of ways) await startAtOnce(here, way, 1); // the first pod of a node, or of an image, takes longer
const started: Started[] = [];
for (const [count, times] of Object.entries(rounds))
  for (let round = 0; round < times; round++)
    for (const way of shuffled(ways)) {
      started.push(await startAtOnce(here, way, Number(count)));
      console.log(JSON.stringify(started.at(-1)));
    }
const order = ways.map(([name]) => name);
await Bun.write(
  output,
  JSON.stringify(started.toSorted((a, b) => a.count - b.count || order.indexOf(a.way) - order.indexOf(b.way))),
);

async function makeWays(): Promise<readonly Way[]> {
  const injected = await inject(ebbPath, images.ebb, "emptyDir");
  const olds = others.map(async (word): Promise<Way> => {
    const [name = "", path = ""] = word.split("=");
    return [`emptyDir, ${name}`, await inject(path, references[name] ?? "", "emptyDir")];
  });
  return [
    ["no ebb", plain],
    ["init container, ebb --version", idle(injected)],
    ["emptyDir", injected],
    ...(await Promise.all(olds)),
    ["image volume", await inject(ebbPath, images.ebb, "image")],
  ];
}

/** Returns the pod as `ebb inject` makes it. */
async function inject(path: string, image: string, volume: string): Promise<KubeObject> {
  const command = [path, "inject", "--all", "--registries", "none", "--image", image, "--volume", volume];
  const { code, stdout, stderr } = await runProgram(command, { stdin: JSON.stringify(plain) });
  if (code !== 0) throw new Error(`${command.join(" ")}: exit code ${code}\n${stderr}`);
  return Bun.YAML.parse(stdout) as KubeObject;
}

/** Returns the pod without ebb, with the init container of an injected one, which does nothing. */
function idle({ spec }: KubeObject): KubeObject {
  const { initContainers = [] } = spec as PodSpec;
  const doing = initContainers.map((one) => ({ ...one, command: ["/ebb", "--version"], volumeMounts: [] }));
  return { ...plain, spec: { ...(plain.spec as PodSpec), initContainers: doing } };
}

async function startAtOnce(here: Namespace, [way, pod]: Way, count: number): Promise<Started> {
  spawnSync("sync"); // what was written before is no load
  const path = `/api/v1/namespaces/${here.name}/pods`;
  const ready = new Map<string, number>();
  const over = new AbortController();
  const watch = await changes<Pod>(`${path}?`, over.signal, ({ object }) => {
    const { name } = object.metadata;
    if (hasCondition(object, "Ready") && !ready.has(name)) ready.set(name, performance.now());
  });
  const begin = performance.now();
  const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
  await Promise.all(
    names.map(async (name) => {
      const { status, text } = await request("POST", path, { ...pod, metadata: { ...pod.metadata, name } });
      if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    }),
  );
  await here.until("all pods are ready", () => ready.size === count, LIMIT_MS);
  over.abort();
  await watch.ended.catch(() => undefined); // it was aborted
  const bytes = diskOf(volumes);
  await request("DELETE", path);
  await here.until("nothing is left of them", () => readdirSync(volumes).length === 0, LIMIT_MS);
  return { way, count, readyMs: [...ready.values()].map((at) => at - begin), bytes };
}

function diskOf(folder: string): number {
  const { stdout } = spawnSync("du", ["-s", "-B1", "--one-file-system", folder], { encoding: "utf8" });
  return Number(stdout.split("\t")[0]);
}
