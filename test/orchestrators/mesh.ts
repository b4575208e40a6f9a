import { request } from "../cluster/api.ts";
import type { Namespace } from "../cluster/cluster.ts";
import { environment } from "../cluster/environment.ts";
import { injected, startIstio } from "../cluster/istio/istio.ts";
import {
  type ContainerStatus,
  deploymentOf,
  type KubeObject,
  type Metadata,
  type Pod,
  type PodSpec,
  serviceOf,
} from "../cluster/objects.ts";
import { programs } from "../cluster/programs.ts";
import { startInstallation } from "../cluster/webhook/installation.ts";
import type { contents } from "./images.ts";

/** The names of the images of these tests: `images.argoexec`. */
export const images = environment().images as ReturnType<typeof environment>["images"] &
  Readonly<Record<keyof typeof contents, string>>;

/** A namespace whose pods get Istio's sidecar and ebb, with a server in the mesh; `await using` it. */
export interface Mesh extends AsyncDisposable {
  readonly here: Namespace;
  /** The URL of the server, which keeps what is PUT. It has an address, because there is no DNS here. */
  readonly url: string;
  /** Resolves with the requests for a path that the server has had, each as `PUT mesh`, or `PUT plain`. */
  requests(path: string): Promise<readonly string[]>;
  /** Has the server answer what was PUT to `PATH?held`. */
  answer(path: string): Promise<void>;
  /** Resolves with what the server has kept at a path; undefined if nothing. */
  kept(path: string): Promise<string | undefined>;
}

/** Installs Istio and ebb's webhook, and starts the server. Resolves once it is ready. */
export async function startMesh(): Promise<Mesh> {
  const [webhook] = await Promise.all([startInstallation({ webhook: { replicas: 1, all: true } }), startIstio()]);
  const here = await webhook.namespace(injected);
  const server = programs.container("server", "artifacts.ts");
  await here.apply([
    programs.configMap("artifacts.ts"),
    deploymentOf("artifacts", { containers: [server], volumes: [programs.volume] }),
    serviceOf("artifacts", { http: 8080 }),
  ]);
  await here.kubectl("rollout", "status", "deployment/artifacts", "--timeout=120s");
  const { metadata } = await here.podOf("artifacts");
  const { spec } = await here.object<{ spec: { clusterIP: string } }>("service/artifacts");
  const ask = (method: string, path: string) =>
    request(method, `/api/v1/namespaces/${here.name}/pods/${metadata.name}:8080/proxy${path}`);
  return {
    here,
    url: `http://${spec.clusterIP}:8080`,
    async requests(path) {
      const words = (await here.logs(metadata.name, "server")).split("\n").map((line) => line.split(" "));
      return words.filter(([, asked]) => asked === path).map(([method, , way]) => `${method} ${way}`);
    },
    async answer(path) {
      const { status } = await ask("POST", path);
      if (status !== 204) throw new Error(`POST ${path}: status ${status}`);
    },
    async kept(path) {
      const { status, text } = await ask("GET", path);
      return status === 200 ? text : undefined;
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await webhook[Symbol.asyncDispose]();
    },
  };
}

/** Returns a Deployment whose pod gets neither a sidecar nor ebb, such as an orchestrator's own. */
export function outsideMesh(name: string, pod: PodSpec): KubeObject {
  const { spec, ...deployment } = deploymentOf(name, pod, { annotations: { "ebb.dev/inject": "false" } });
  const { template } = spec as { template: { metadata: Metadata } };
  const labels = { ...template.metadata.labels, "sidecar.istio.io/inject": "false" };
  return {
    ...deployment,
    spec: { ...(spec as object), template: { ...template, metadata: { ...template.metadata, labels } } },
  };
}

/** Returns the exit codes of a pod's containers, native sidecars too, by their names; "running" of those that run. */
export function endsOf({ status }: Pod): Readonly<Record<string, number | string>> {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return Object.fromEntries(all.map((container) => [container.name, endOf(container)]));
}

function endOf({ state: { terminated, waiting } }: ContainerStatus): number | string {
  return terminated?.exitCode ?? waiting?.reason ?? "running";
}
