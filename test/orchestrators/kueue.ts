import { parseAllDocuments, stringify } from "yaml";
import { type Namespace, namespace } from "../cluster/cluster.ts";
import { render } from "../cluster/inject/helm.ts";
import { kubectl, tryKubectl } from "../cluster/kubectl.ts";
import { type Condition, hasCondition, type KubeObject } from "../cluster/objects.ts";
import { compiledProgram } from "../sidecars/compile.ts";
import { images } from "./mesh.ts";

/** What Kueue notes about a Job: whether it has its quota, and whether it has ended. */
interface Workload extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Kueue, for the Jobs of one namespace; `await using` it. */
export interface Kueue extends AsyncDisposable {
  /** Makes a queue with a quota of 100m, and resolves with the labels of its Jobs. */
  queue(name: string): Promise<Readonly<Record<string, string>>>;
  /** Resolves with what a queue's Jobs use: "100m", or "0". */
  used(name: string): Promise<string | undefined>;
  /** Resolves with a condition of a Job's Workload, such as QuotaReserved or Finished; undefined if Kueue has not said it. */
  condition(job: string, type: string): Promise<Condition["status"] | undefined>;
}

/** Installs Kueue by its own chart in a namespace of its own, with certificates that it makes itself. */
export async function startKueue(here: Namespace): Promise<Kueue> {
  const own = await namespace();
  const manifests = await manifestsIn(own, here);
  await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], { stdin: manifests });
  await own.until("it is ready", async () => (await own.pods()).some((pod) => hasCondition(pod, "Ready")));
  const flavor = { apiVersion: api, kind: "ResourceFlavor", metadata: { name: here.name } };
  await own.until("its webhooks answer", async () => (await own.tryApply([flavor])).code === 0);
  return {
    async queue(name) {
      const whole = `${here.name}-${name}`;
      await here.apply([clusterQueue(whole, here.name), queueOf(name, whole)]);
      return { "kueue.x-k8s.io/queue-name": name };
    },
    async used(name) {
      const { status } = await here.object<{ status?: { flavorsUsage?: readonly Usage[] } }>(`localqueue/${name}`);
      return status?.flavorsUsage?.[0]?.resources[0]?.total;
    },
    async condition(job, type) {
      const { items } = await here.object<{ items: readonly Workload[] }>("workloads");
      const workload = items.find(({ metadata }) => ownersOf(metadata).some(({ name }) => name === job));
      return workload?.status?.conditions?.find((condition) => condition.type === type)?.status;
    },
    async [Symbol.asyncDispose]() {
      await tryKubectl(["delete", "--ignore-not-found", "--wait=false", "-f", "-"], { stdin: manifests });
      await own[Symbol.asyncDispose]();
    },
  };
}

interface Usage {
  readonly resources: readonly { readonly total: string }[];
}

const api = "kueue.x-k8s.io/v1beta2";

/** Renders the chart, without its own API, which the API server would ask after Kueue has gone. */
async function manifestsIn({ name }: Namespace, here: Namespace): Promise<string> {
  const [repository, tag] = images.kueue.split(/:(?=[^:]*$)/);
  const config = {
    apiVersion: "config.kueue.x-k8s.io/v1beta2",
    kind: "Configuration",
    health: { healthProbeBindAddress: ":8081" },
    metrics: { bindAddress: ":8443" },
    webhook: { port: 9443 },
    managedJobsNamespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": here.name } },
    integrations: { frameworks: ["batch/job"] },
  };
  const all = await render({
    release: "kueue",
    path: compiledProgram("kueue").file("kueue"),
    namespace: name,
    values: {
      controllerManager: {
        manager: { image: { repository, tag, pullPolicy: "IfNotPresent" }, resources: { requests: { cpu: "100m" } } },
      },
      managerConfig: { controllerManagerConfigYaml: stringify(config) },
    },
  });
  const documents = parseAllDocuments(all).map((document) => document.toJSON() as KubeObject | null);
  return documents
    .filter((one) => one !== null && one.kind !== "APIService")
    .map((one) => JSON.stringify(one))
    .join("\n---\n");
}

function clusterQueue(name: string, flavor: string): KubeObject {
  const resources = [{ name: "cpu", nominalQuota: "100m" }];
  const resourceGroups = [{ coveredResources: ["cpu"], flavors: [{ name: flavor, resources }] }];
  return { apiVersion: api, kind: "ClusterQueue", metadata: { name }, spec: { namespaceSelector: {}, resourceGroups } };
}

function queueOf(name: string, clusterQueueName: string): KubeObject {
  return { apiVersion: api, kind: "LocalQueue", metadata: { name }, spec: { clusterQueue: clusterQueueName } };
}

function ownersOf(metadata: KubeObject["metadata"]): readonly { readonly name: string }[] {
  return (metadata.ownerReferences ?? []) as readonly { readonly name: string }[];
}
