import { images } from "../cluster.ts";
import { envoySidecar } from "../envoy.ts";
import { type Container, configMapOf, jobOf, type KubeObject, type PodSpec } from "../objects.ts";
import { programs } from "../programs.ts";

/** A Job that is stuck, or seems so, and what a reaper makes of it. */
export interface StuckJob {
  readonly name: string;
  readonly job: KubeObject;
  /** How the Job ends; undefined: it does not. */
  readonly end: "Complete" | "Failed" | undefined;
  /** The reason of the last Event of its pod; undefined: the reaper has none. */
  readonly event: "SidecarsEnded" | "SidecarDidNotExit" | "NotReaped" | undefined;
  /** What that Event says, in part. */
  readonly note?: string;
}

/** Ends with the exit code of its first argument, once the port of its second accepts connections. */
const app = `
const [, , code, port] = process.argv;
const listens = () => Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data() {} } });
while (!(await listens().then((socket) => (socket.end(), true), () => false))) await Bun.sleep(50);
process.exit(Number(code));
`;

/**
 * A sidecar at the port of its first argument, whose second is the path of its quit. The third says what it does then: it
 * ends ("goes"), runs on ("stays"), or ends with exit code 3 ("fails"); or it knows no such path ("refuses").
 */
const sidecar = `
const [, , port, quit, way] = process.argv;
process.on("SIGTERM", () => process.exit(0));
const ways = { goes: () => process.exit(0), fails: () => process.exit(3), stays: () => undefined };
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch({ method, url }) {
    if (way === "refuses" || method !== "POST" || new URL(url).pathname !== quit)
      return new Response("no such path", { status: 404 });
    setTimeout(ways[way], 300);
    return new Response("OK\\n");
  },
});
`;

const envoys = {
  usual: envoySidecar({ upstreamPort: 8081 }),
  odd: envoySidecar({ upstreamPort: 8081, adminPort: 9999 }),
};
const odd = { ...envoys.odd.configMap, metadata: { name: "odd-envoy" } };
const oddVolume = { name: "envoy", configMap: { name: "odd-envoy" } };

/** The ConfigMaps of these Jobs, to be applied before them. */
export const configMaps: readonly KubeObject[] = [
  envoys.usual.configMap,
  odd,
  configMapOf(programs.name, { "app.ts": app, "sidecar.ts": sidecar }),
];

const ebbFolder = { name: "ebb", mountPath: "/ebb.dev" };
const install = { name: "install", image: images.ebb, args: ["install", "/ebb.dev/ebb"], volumeMounts: [ebbFolder] };

function withEbb(container: Container): Container {
  return { ...container, volumeMounts: [...((container.volumeMounts ?? []) as object[]), ebbFolder] };
}

interface Shape {
  readonly containers: readonly Container[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Other fields of the pod's spec, or of the Job's. */
  readonly pod?: Partial<PodSpec>;
  readonly more?: Readonly<Record<string, unknown>>;
}

function stuckJob(
  name: string,
  { containers, annotations = {}, labels = {}, pod = {}, more = {} }: Shape,
  rest: Omit<StuckJob, "name" | "job">,
): StuckJob {
  const { volumes = [], ...spec } = pod;
  const job = jobOf(name, { containers, volumes: [programs.volume, ...volumes], ...spec }, more);
  const { metadata } = (job.spec as { template: { metadata: { labels: object } } }).template;
  Object.assign(metadata, { labels: { ...metadata.labels, ...labels }, annotations });
  return { name, job, ...rest };
}

const ends = (code = 0, port = 9901): Container => programs.container("app", "app.ts", String(code), String(port));
const standIn = (name: string, way: string, port = 9901, path = "/quitquitquit"): Container =>
  programs.container(name, "sidecar.ts", String(port), path, way);
const runs: Container = { name: "app", image: images.bun, command: ["/bun", "-e", "setInterval(() => 0, 1e6)"] };
const usual: Container = envoys.usual.container;
const odds: Container = envoys.odd.container;
const envoyVolumes = { volumes: [envoys.usual.volume] };
const oddVolumes = { volumes: [oddVolume] };
const withInstall = { initContainers: [install], volumes: [envoys.usual.volume, { name: "ebb", emptyDir: {} }] };
const oddWithInstall = { initContainers: [install], volumes: [oddVolume, { name: "ebb", emptyDir: {} }] };
const ended = (note: string) => ({ end: "Complete", event: "SidecarsEnded", note }) as const;
const byForward = "POST localhost:9901/quitquitquit through a port-forward";
const byEphemeral = "by ephemeral container: ebb quit --sidecar envoy";
const patience = { "ebb.dev/reap-patience.envoy": "2s" };

/** Thirty Jobs of different shapes, in a namespace whose label selects all of them. */
export const stuckJobs: readonly StuckJob[] = [
  stuckJob("envoy", { containers: [usual, ends()], pod: envoyVolumes }, ended(byForward)),
  stuckJob(
    "envoy-app-failed",
    { containers: [usual, ends(3)], pod: envoyVolumes },
    { end: "Failed", event: "SidecarsEnded", note: byForward },
  ),
  stuckJob(
    "envoy-with-ebb",
    { containers: [withEbb(usual), ends()], pod: withInstall },
    ended("exec in envoy: /ebb.dev/ebb quit"),
  ),
  stuckJob("envoy-9999", { containers: [odds, ends(0, 9999)], pod: oddVolumes }, ended(byEphemeral)),
  stuckJob(
    "envoy-9999-app-first",
    { containers: [odds, { name: "app", image: images.app, args: ["exit", "0"] }], pod: oddVolumes },
    ended(byEphemeral),
  ),
  stuckJob(
    "envoy-9999-with-ebb",
    { containers: [withEbb(odds), ends(0, 9999)], pod: oddWithInstall },
    ended("exec in envoy: /ebb.dev/ebb quit"),
  ),
  stuckJob(
    "envoy-9999-told",
    {
      containers: [odds, ends(0, 9999)],
      annotations: { "ebb.dev/reap-quit.envoy": "POST http://localhost:9999/quitquitquit" },
      pod: oddVolumes,
    },
    ended("POST localhost:9999/quitquitquit through a port-forward"),
  ),
  stuckJob(
    "envoy-by-another-name",
    {
      containers: [{ ...usual, name: "proxy" }, ends()],
      annotations: { "ebb.dev/sidecars": "proxy" },
      pod: envoyVolumes,
    },
    ended("proxy, by POST localhost:9901/quitquitquit through a port-forward"),
  ),
  stuckJob(
    "envoy-of-a-user",
    { containers: [usual, ends()], pod: { ...envoyVolumes, securityContext: { runAsUser: 1000, runAsNonRoot: true } } },
    ended(byForward),
  ),
  stuckJob("goes", { containers: [standIn("envoy", "goes"), ends()] }, ended(byForward)),
  stuckJob(
    "goes-after-onfailure",
    { containers: [standIn("envoy", "goes"), ends()], pod: { restartPolicy: "OnFailure" } },
    ended(byForward),
  ),
  stuckJob(
    "fails",
    { containers: [standIn("envoy", "fails"), ends()] },
    { end: "Failed", event: "SidecarsEnded", note: byForward },
  ),
  stuckJob(
    "fails-and-restarts",
    {
      containers: [standIn("envoy", "fails"), ends()],
      pod: { restartPolicy: "OnFailure" },
      // with fewer restarts than this the Job fails, and its pod may be deleted before the reaper has seen the restart
      more: { backoffLimit: 6 },
    },
    { end: undefined, event: "SidecarDidNotExit", note: "the kubelet starts envoy again" },
  ),
  stuckJob(
    "stays",
    { containers: [standIn("envoy", "stays"), ends()], annotations: patience },
    { end: undefined, event: "SidecarDidNotExit", note: "still there 2s later" },
  ),
  stuckJob(
    "refuses",
    { containers: [standIn("envoy", "refuses"), ends()], annotations: patience },
    { end: undefined, event: "SidecarDidNotExit", note: "HTTP 404" },
  ),
  stuckJob(
    "own-command",
    {
      containers: [standIn("envoy", "stays"), ends()],
      annotations: { "ebb.dev/reap-exec.envoy": '["/bun", "-e", "process.kill(1, 15)"]' },
    },
    ended("exec in envoy: /bun ..."),
  ),
  stuckJob(
    "own-command-is-none",
    { containers: [standIn("envoy", "goes"), ends()], annotations: { "ebb.dev/reap-exec.envoy": '["/no-such"]' } },
    ended(byForward),
  ),
  stuckJob(
    "nobody-listens-there",
    {
      containers: [standIn("envoy", "goes"), ends()],
      annotations: { ...patience, "ebb.dev/reap-quit.envoy": "http://localhost:1/quit" },
    },
    { end: undefined, event: "SidecarDidNotExit", note: "connection refused" },
  ),
  stuckJob(
    "no-url",
    { containers: [standIn("envoy", "goes"), ends()], annotations: { "ebb.dev/reap-quit.envoy": "localhost:1" } },
    { end: undefined, event: "NotReaped", note: "ebb.dev/reap-quit.envoy: expected a URL" },
  ),
  stuckJob(
    "stray-annotation",
    { containers: [standIn("envoy", "goes"), ends()], annotations: { "ebb.dev/reap-patience.envoi": "2s" } },
    { end: undefined, event: "NotReaped", note: "did you mean envoy?" },
  ),
  stuckJob(
    "odd-word",
    { containers: [standIn("envoy", "goes"), ends()], annotations: { "ebb.dev/reap": "yes" } },
    { end: undefined, event: "NotReaped", note: "expected true or false" },
  ),
  stuckJob(
    "opted-out",
    { containers: [standIn("envoy", "goes"), ends()], labels: { "ebb.dev/reap": "false" } },
    { end: undefined, event: undefined },
  ),
  stuckJob("app-runs", { containers: [standIn("envoy", "goes"), runs] }, { end: undefined, event: undefined }),
  stuckJob(
    "two-sidecars",
    { containers: [standIn("daprd", "goes", 3500, "/v1.0/shutdown"), standIn("envoy", "goes"), ends()] },
    ended("envoy, by"),
  ),
  stuckJob(
    "dapr-elsewhere",
    {
      containers: [
        { ...standIn("daprd", "goes", 3501, "/v1.0/shutdown"), env: [{ name: "DAPR_HTTP_PORT", value: "3501" }] },
        ends(0, 3501),
      ],
    },
    ended("POST localhost:3501/v1.0/shutdown"),
  ),
  stuckJob(
    "cloud-sql",
    {
      containers: [
        standIn("csql-x", "goes", 9092),
        { ...ends(0, 9092), env: [{ name: "CSQL_PROXY_QUIT_URLS", value: "http://localhost:9092/quitquitquit" }] },
      ],
      annotations: { "ebb.dev/sidecars": "csql-x" },
    },
    { end: undefined, event: "NotReaped", note: "ebb does not know how to end csql-x" },
  ),
  stuckJob(
    "linkerd",
    { containers: [standIn("linkerd-proxy", "goes", 4191, "/shutdown"), ends(0, 4191)] },
    ended("POST localhost:4191/shutdown"),
  ),
  stuckJob(
    "native",
    {
      containers: [ends()],
      pod: { initContainers: [{ ...standIn("envoy", "stays"), restartPolicy: "Always" }] },
    },
    { end: "Complete", event: undefined },
  ),
  stuckJob(
    "two-tries",
    { containers: [standIn("envoy", "goes"), ends(7)], more: { backoffLimit: 1 } },
    { end: "Failed", event: "SidecarsEnded", note: byForward },
  ),
  stuckJob(
    "three-pods",
    { containers: [standIn("envoy", "goes"), ends()], more: { parallelism: 3, completions: 3 } },
    ended(byForward),
  ),
];
