import { until as untilTrue } from "../harness.ts";
import { read, request } from "./api.ts";
import { environment } from "./environment.ts";
import { type KubectlOptions, kubectl, type Output, tryKubectl } from "./kubectl.ts";
import type { Job, KubeObject, Pod } from "./objects.ts";
import { reportOn } from "./report.ts";

/** The images that containers of the tests are made of: `images.ebb`. */
export const { images } = environment();

/** A namespace of its own for a test; `await using` it. Names are unique in the cluster. */
export interface Namespace extends AsyncDisposable {
  readonly name: string;
  /** `kubectl --namespace NAME ...`; what it writes to stdout. @throws Error with what it said where it fails */
  kubectl(...words: readonly string[]): Promise<string>;
  /** The same, without a fault where it fails. */
  tryKubectl(words: readonly string[], options?: KubectlOptions): Promise<Output>;
  /** Applies a manifest: YAML, or objects. What kubectl said. */
  apply(manifest: string | readonly KubeObject[]): Promise<string>;
  /** The same, with warnings and refusals. */
  tryApply(manifest: string | readonly KubeObject[]): Promise<Output>;
  /** @throws Error where there is none */
  pod(name: string): Promise<Pod>;
  /** All pods, or those that a label selector matches. */
  pods(selector?: string): Promise<readonly Pod[]>;
  /** The one pod of a Job, a Deployment ..., by its label `app`; waits until it is made. */
  podOf(app: string): Promise<Pod>;
  /** @throws Error where there is none */
  job(name: string): Promise<Job>;
  /** Any object, by kubectl's words: `object("deployment/web")`. @throws Error where there is none */
  object<T = KubeObject>(name: string): Promise<T>;
  /** What a container has written so far; nothing before it starts. */
  logs(pod: string, container: string): Promise<string>;
  /** `kubectl exec POD -c CONTAINER -- COMMAND...` */
  exec(pod: string, container: string, ...command: readonly string[]): Promise<Output>;
  /**
   * Resolves with the first value that is neither undefined, null nor false. @throws Error with the state of all pods, the
   * events and the logs here, after `withinMs`
   */
  until<T>(
    what: string,
    ask: () => T | undefined | null | false | Promise<T | undefined | null | false>,
    withinMs?: number,
  ): Promise<T>;
}

const LIMIT_MS = 120_000;
const POLL_MS = 100;

/** Labels are for Pod Security: `namespace({"pod-security.kubernetes.io/enforce": "restricted"})`. */
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

async function readOne<T>(path: string): Promise<T> {
  return (await read<T>(path)) ?? missing(`${path}: not there`);
}

function asList(items: readonly KubeObject[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

function missing(what: string): never {
  throw new Error(what);
}
