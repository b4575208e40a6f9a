import { limitedTo } from "../../binary/cluster/limited.ts";
import { logOf, type Started, type StartOptions, startEbb, until } from "../../harness/ebb.ts";
import { read } from "../api.ts";
import { images, type Namespace } from "../cluster.ts";
import { configMapOf, type KubeObject, type PodSpec, podOf } from "../objects.ts";
import { programs } from "../programs.ts";

/** An `ebb reaper` on this machine, which looks after one namespace of the cluster. */
export interface Reaper extends Started {
  /** Resolves with the text of a page at its health port, such as `/metrics`. */
  page(path: string): Promise<string>;
  /** Resolves with the value of a metric, given its name and labels as they are written; 0 if it is not there. */
  metric(name: string): Promise<number>;
}

const LONG_MS = 120_000;

/** Returns the arguments of a reaper of one namespace: it acts after 1 s. */
export function reaperArguments(here: Namespace, flags: readonly string[]): readonly string[] {
  return ["reaper", "--namespace", here.name, "--after", "1s", "--image", images.ebb, ...flags];
}

export const reaperEnvironment: Readonly<Record<string, string>> = { KUBECONFIG: process.env.KUBECONFIG ?? "" };

/** How to start one that lists all pods again every two seconds. */
export const resyncing: StartOptions = limitedTo({ resync: 2000 });

/** Starts a reaper; `await using` it. Resolves once it answers probes. */
export async function startReaper(
  here: Namespace,
  flags: readonly string[] = [],
  options: StartOptions = {},
): Promise<Reaper> {
  const own = ["--health-listen", "127.0.0.1:0", ...flags];
  const started = startEbb(reaperArguments(here, own), { env: reaperEnvironment, ...options });
  const probes = () => logOf(started.stderr()).find(({ msg }) => msg === "ebb: serving probes and metrics");
  const ended = started.ended.then(({ code, stderr }) => {
    throw new Error(`the reaper ended with ${code}: ${stderr}`);
  });
  const { port } = await Promise.race([until("it answers probes", probes, LONG_MS), ended]);
  const page = async (path: string): Promise<string> => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const metric = async (name: string): Promise<number> => {
    const line = (await page("/metrics")).split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  };
  return { ...started, page, metric };
}

export const reaped = { "ebb.dev/reap": "true" };

/** An app that ends once its sidecar listens; its first argument is its exit code. */
const app = `
while (!(await fetch("http://127.0.0.1:9901/ready").then(({ ok }) => ok, () => false))) await Bun.sleep(50);
process.exit(Number(process.argv[2]));
`;

/**
 * A sidecar that accepts Envoy's quit, and prints each. Its first argument says what it does 1 s later: it ends
 * ("goes"), it runs on ("stays"), or it ends with exit code 3 ("fails").
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

/** The ConfigMap with both programs, to be applied before pods of `standInPod`. */
export const standIns: KubeObject = configMapOf(programs.name, { "app.ts": app, "sidecar.ts": sidecar });

interface StandIn {
  /** What the sidecar does when it is told to quit; by default it ends. */
  readonly sidecar?: "goes" | "stays" | "fails";
  /** The app's exit code, by default 0; an app with undefined does not end. */
  readonly code?: number | undefined;
  readonly more?: Partial<PodSpec>;
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns a pod with an app and a stand-in for Envoy, which chose to be reaped. */
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

/** Resolves with the number of times that a pod's sidecar was told to quit. */
export async function quits(here: Namespace, pod: string): Promise<number> {
  return (await here.logs(pod, "envoy")).split("\n").filter((line) => line === "QUIT /quitquitquit").length;
}

export interface PodEvent {
  /** RFC 3339, with six digits of a second. */
  readonly eventTime: string;
  readonly reason: string;
  readonly type: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** Resolves with the reaper's Events in their order, about all pods in a namespace or about one. */
export async function reaperEvents(here: Namespace, pod?: string): Promise<readonly PodEvent[]> {
  const list = await read<{ items: PodEvent[] }>(`/apis/events.k8s.io/v1/namespaces/${here.name}/events`);
  const own = (list?.items ?? []).filter(({ reportingController }) => reportingController === "ebb.dev/reaper");
  own.sort((one, other) => (one.eventTime < other.eventTime ? -1 : 1));
  return pod === undefined ? own : own.filter(({ regarding }) => regarding.name === pod);
}

/** Resolves with the reasons of the reaper's Events about a pod, in alphabetical order. */
export async function reasons(here: Namespace, pod: string): Promise<readonly string[]> {
  return (await reaperEvents(here, pod)).map(({ reason }) => reason).sort();
}
