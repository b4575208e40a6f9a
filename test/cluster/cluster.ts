import { until as untilTrue } from "../harness/ebb.ts";
import { read, request } from "./api.ts";
import { environment } from "./environment.ts";
import { type KubectlOptions, kubectl, type Output, tryKubectl } from "./kubectl.ts";
import type { Job, KubeObject, Pod } from "./objects.ts";
import { reportOn } from "./report.ts";

/** The names of the images that the tests' containers have: `images.ebb`. */
export const { images } = environment();

/** A namespace for one test; `await using` it, which deletes it. Its name is unique in the cluster. */
export interface Namespace extends AsyncDisposable {
  readonly name: string;
  /** Runs `kubectl --namespace NAME ...`, and resolves with its stdout. Rejects with all that it said if it fails. */
  kubectl(...words: readonly string[]): Promise<string>;
  /** Signals the first process of a container whose image has Bun. */
  signal(pod: string, container: string, signal: NodeJS.Signals): Promise<void>;
  /** Runs `kubectl --namespace NAME ...`, and resolves with its exit code and output. */
  tryKubectl(words: readonly string[], options?: KubectlOptions): Promise<Output>;
  /**
   * Applies a manifest, YAML or objects, and resolves with kubectl's stdout. Rejects with all that it said if it fails.
   */
  apply(manifest: string | readonly KubeObject[]): Promise<string>;
  /** Applies a manifest, and resolves with kubectl's exit code and output, warnings and refusals too. */
  tryApply(manifest: string | readonly KubeObject[]): Promise<Output>;
  /** Reads a pod. Rejects if there is none. */
  pod(name: string): Promise<Pod>;
  /** Lists all pods, or those that a label selector matches. */
  pods(selector?: string): Promise<readonly Pod[]>;
  /**
   * Waits until a pod has the label `app` with that value, such as a Job's or a Deployment's, and resolves with the
   * first.
   */
  podOf(app: string): Promise<Pod>;
  /** Reads a Job. Rejects if there is none. */
  job(name: string): Promise<Job>;
  /** Reads any object, by kubectl's words: `object("deployment/web")`. Rejects if there is none. */
  object<T = KubeObject>(name: string): Promise<T>;
  /** Resolves with what a container has written so far; "" before it starts. */
  logs(pod: string, container: string): Promise<string>;
  /** Runs `kubectl exec POD -c CONTAINER -- COMMAND...`, and resolves with its exit code and output. */
  exec(pod: string, container: string, ...command: readonly string[]): Promise<Output>;
  /**
   * Calls `ask` every 100 ms until it returns a value that is neither undefined, null nor false, and resolves with that
   * value. After `withinMs`, by default 2 minutes, it rejects with the state of all pods, the events and the logs here.
   */
  until<T>(
    what: string,
    ask: () => T | undefined | null | false | Promise<T | undefined | null | false>,
    withinMs?: number,
  ): Promise<T>;
}

const LIMIT_MS = 120_000;
const POLL_MS = 100;

/** Creates a namespace with these labels, such as those of Pod Security. Resolves once pods can be created in it. */
export async function namespace(
  labels: Readonly<Record<string, string>> = {},
  name = `test-${crypto.randomUUID().slice(0, 8)}`,
): Promise<Namespace> {
  await kubectl(["apply", "-f", "-"], {
    stdin: JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }),
  });
  const own = (words: readonly string[]) => ["--namespace", name, ...words];
  const core = `/api/v1/namespaces/${name}`;
  const pods = async (selector = "") => {
    const list = await read<{ items: Pod[] }>(`${core}/pods?labelSelector=${encodeURIComponent(selector)}`);
    return list?.items ?? [];
  };
  const until: Namespace["until"] = async (what, ask, withinMs = LIMIT_MS) => {
    try {
      return await untilTrue(what, ask, withinMs, POLL_MS);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${await reportOn(name)}`, { cause: error });
    }
  };
  const tryApply = (manifest: string | readonly KubeObject[]) =>
    tryKubectl(own(["apply", "-f", "-"]), { stdin: typeof manifest === "string" ? manifest : asList(manifest) });
  const here: Namespace = {
    name,
    kubectl: (...words) => kubectl(own(words)),
    async signal(pod, container, signal) {
      const words = ["exec", pod, "-c", container, "--", "/bun", "-e", `process.kill(1, "${signal}")`];
      const { code, stderr } = await tryKubectl(own(words));
      // a container that has ended took the sender with it
      if (code !== 0 && code !== 137) throw new Error(`kubectl ${words.join(" ")}: exit code ${code}\n${stderr}`);
    },
    tryKubectl: (words, options) => tryKubectl(own(words), options),
    tryApply,
    async apply(manifest) {
      const { code, stdout, stderr } = await tryApply(manifest);
      if (code !== 0) throw new Error(`kubectl apply: exit code ${code}\n${stdout}${stderr}`);
      return stdout;
    },
    pod: (pod) => readOne<Pod>(`${core}/pods/${pod}`),
    pods,
    podOf: (app) => until(`a pod of ${app}`, async () => (await pods(`app=${app}`))[0]),
    job: (job) => readOne<Job>(`/apis/batch/v1/namespaces/${name}/jobs/${job}`),
    object: async (object) => JSON.parse(await kubectl(own(["get", "-o", "json", object]))),
    async logs(pod, container) {
      const { status, text } = await request("GET", `${core}/pods/${pod}/log?container=${container}`);
      return status === 200 ? text : "";
    },
    exec: (pod, container, ...command) => tryKubectl(own(["exec", pod, "-c", container, "--", ...command])),
    until,
    async [Symbol.asyncDispose]() {
      await request("DELETE", core);
      await request("DELETE", `${core}/pods?gracePeriodSeconds=1`);
    },
  };
  await until("the default ServiceAccount, which pods want", () => read(`${core}/serviceaccounts/default`));
  return here;
}

/** Returns the address of a Service. Rejects if there is none. */
export async function serviceAddress(here: Namespace, service: string): Promise<string> {
  const { spec } = await here.object<{ readonly spec: { readonly clusterIP: string } }>(`service/${service}`);
  return spec.clusterIP;
}

/** Evicts a pod, as `kubectl drain` does. Rejects if that is refused. */
export async function evict(here: Namespace, pod: string): Promise<void> {
  const path = `/api/v1/namespaces/${here.name}/pods/${pod}/eviction`;
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace: here.name } };
  const { status, text } = await request("POST", path, eviction);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
}

async function readOne<T>(path: string): Promise<T> {
  return (await read<T>(path)) ?? missing(`${path}: not there`);
}

function asList(items: readonly KubeObject[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function missing(what: string): never {
  throw new Error(what);
}
