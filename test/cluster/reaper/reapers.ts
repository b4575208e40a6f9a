import { logOf, type Started, startEbb, until } from "../../harness.ts";
import { read } from "../api.ts";
import { images, type Namespace } from "../cluster.ts";
import { configMapOf, type KubeObject, type PodSpec, podOf } from "../objects.ts";
import { programs } from "../programs.ts";

/** `ebb reaper` beside the cluster, which looks after one namespace and has its Lease there. */
export interface Reaper extends Started {
  /** What a page of its probes answers: `/metrics`. */
  page(path: string): Promise<string>;
  /** The value of a metric, by its name and labels as they are written; 0 where it is not there. */
  metric(name: string): Promise<number>;
  leads(): Promise<boolean>;
}

const LONG_MS = 120_000;

/** What each of them is told here. */
export function reaperArguments(here: Namespace, flags: readonly string[]): readonly string[] {
  return ["reaper", "--namespace", here.name, "--after", "1s", "--image", images.ebb, ...flags];
}

export const reaperEnvironment: Readonly<Record<string, string>> = { KUBECONFIG: process.env.KUBECONFIG ?? "" };

/** `await using` it. Resolves when it answers probes. */
export async function startReaper(
  here: Namespace,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = reaperEnvironment,
): Promise<Reaper> {
  const own = ["--lease-namespace", here.name, "--health-listen", "127.0.0.1:0", ...flags];
  const started = startEbb(reaperArguments(here, own), { env });
  const probes = () => logOf(started.stderr()).find(({ msg }) => msg === "ebb: answering probes");
  const { port } = await until("it answers probes", probes, LONG_MS);
  const page = async (path: string): Promise<string> => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const metric = async (name: string): Promise<number> => {
    const line = (await page("/metrics")).split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  };
  return { ...started, page, metric, leads: async () => (await metric("ebb_reaper_leader")) === 1 };
}

export const reaped = { "ebb.dev/reap": "true" };

/** The app that ends once its sidecar listens: the first word is its code. */
const app = `
while (!(await fetch("http://127.0.0.1:9901/ready").then(({ ok }) => ok, () => false))) await Bun.sleep(50);
process.exit(Number(process.argv[2]));
`;

/**
 * A sidecar that takes Envoy's quit, and writes down each: "goes" a moment later, "stays" all the same, "fails" with a code
 * of its own.
 */
const sidecar = `
process.on("SIGTERM", () => process.exit(0));
const ways = { goes: () => process.exit(0), fails: () => process.exit(3), stays: () => undefined };
Bun.serve({
  hostname: "127.0.0.1",
  port: 9901,
  fetch({ method, url }) {
    if (method === "POST") {
      console.log("QUIT", new URL(url).pathname);
      setTimeout(ways[process.argv[2]], 1000);
    }
    return new Response("OK\\n");
  },
});
`;

/** To be applied before the pods below. */
export const standIns: KubeObject = configMapOf(programs.name, { "app.ts": app, "sidecar.ts": sidecar });

export interface StandIn {
  readonly sidecar?: "goes" | "stays" | "fails";
  /** The app's exit code; undefined: it does not end. */
  readonly code?: number | undefined;
  readonly more?: Partial<PodSpec>;
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A pod beside a stand-in of Envoy, which the reaper is to look after. */
export function standInPod(name: string, given: StandIn = {}): KubeObject {
  const { sidecar: way = "goes", annotations = {}, labels = {}, more = {} } = given;
  const code = "code" in given ? given.code : 0;
  const ending = programs.container("app", "app.ts", String(code));
  const lasting = { name: "app", image: images.bun, command: ["/bun", "-e", "setInterval(() => 0, 1e6)"] };
  const spec: PodSpec = {
    containers: [programs.container("envoy", "sidecar.ts", way), code === undefined ? lasting : ending],
    volumes: [programs.volume],
    ...more,
  };
  const all: Record<string, string | undefined> = { ...reaped, ...annotations };
  const metadata = { annotations: JSON.parse(JSON.stringify(all)), labels };
  return podOf(name, spec, metadata);
}

/** How often its sidecar was told to quit. */
export async function quits(here: Namespace, pod: string): Promise<number> {
  return (await here.logs(pod, "envoy")).split("\n").filter((line) => line === "QUIT /quitquitquit").length;
}

export interface PodEvent {
  readonly reason: string;
  readonly type: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** The reaper's Events, of all pods here or of one. */
export async function reaperEvents(here: Namespace, pod?: string): Promise<readonly PodEvent[]> {
  const list = await read<{ items: PodEvent[] }>(`/apis/events.k8s.io/v1/namespaces/${here.name}/events`);
  const own = (list?.items ?? []).filter(({ reportingController }) => reportingController === "ebb.dev/reaper");
  return pod === undefined ? own : own.filter(({ regarding }) => regarding.name === pod);
}

/** Their reasons, in alphabetical order. */
export async function reasons(here: Namespace, pod: string): Promise<readonly string[]> {
  return (await reaperEvents(here, pod)).map(({ reason }) => reason).sort();
}
