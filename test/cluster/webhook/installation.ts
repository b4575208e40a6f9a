import { ebb } from "../../harness.ts";
import { request } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { type Output, tryKubectl } from "../kubectl.ts";
import { type KubeObject, type Pod, podOf } from "../objects.ts";

/** Manifests that `ebb manifests` has printed, for a namespace and under a name of their own; `await using` it. */
export interface Installation extends AsyncDisposable {
  /** The namespace for the installation. */
  readonly here: Namespace;
  /** The name of its objects: `NAME-webhook`. */
  readonly name: string;
  /** What was printed. */
  readonly yaml: string;
  /** Runs `kubectl WORDS... -f -` with what was printed. */
  kubectl(...words: readonly string[]): Promise<Output>;
  /** Creates a namespace for whose pods, and no others, the API server asks this webhook. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<Namespace>;
}

const LABEL = "ebb.dev/test";

/** Prints the manifests of a webhook, and installs nothing yet. What is installed later is deleted with the result. */
export async function installation(...flags: readonly string[]): Promise<Installation> {
  return await named("", ...flags);
}

/**
 * Prints the manifests of a webhook whose names begin with a prefix: the API server asks in the order of registrations'
 * names.
 */
async function named(prefix: string, ...flags: readonly string[]): Promise<Installation> {
  return await printed("webhook", (own) => ["--namespace-selector", `${LABEL}=${own}`, ...flags], prefix);
}

/** Prints the manifests of a reaper, which looks after pods with the labels `reapedBy(installation)` only. */
export async function reaperInstallation(flagsOf: (own: string) => readonly string[]): Promise<Installation> {
  return await printed("reaper", (name) => [
    "--selector",
    `${LABEL}=${name}`,
    "--allow-reap-exec",
    ...flagsOf(name),
    "reaper",
  ]);
}

/** Returns the labels of the pods that this reaper looks after. */
export function reapedBy({ here }: Installation): Readonly<Record<string, string>> {
  return { [LABEL]: here.name };
}

async function printed(
  component: string,
  flagsOf: (own: string) => readonly string[],
  prefix = "",
): Promise<Installation> {
  const here = await namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
  const name = `${prefix}${here.name}`;
  const own = ["--namespace", here.name, "--name", name, "--image", images.ebb];
  const { code, stdout: yaml, stderr } = await ebb(["manifests", ...own, ...flagsOf(here.name)]);
  if (code !== 0) throw new Error(`ebb manifests: exit code ${code}\n${stderr}`);
  const ask = (...words: readonly string[]) => tryKubectl([...words, "-f", "-"], { stdin: yaml });
  return {
    here,
    name: `${name}-${component}`,
    yaml,
    kubectl: ask,
    namespace: (labels = {}) => namespace({ ...labels, [LABEL]: here.name }),
    async [Symbol.asyncDispose]() {
      await ask("delete", "--ignore-not-found", "--wait=false");
      await here[Symbol.asyncDispose]();
    },
  };
}

/** Prints the manifests of a webhook and installs them. Resolves once it changes pods. */
export async function startInstallation(...flags: readonly string[]): Promise<Installation> {
  return await install(await installation(...flags));
}

/** Does the same, after it has created these objects in the webhook's namespace, which its pods want. */
export async function startInstallationWith(
  objects: readonly KubeObject[],
  ...flags: readonly string[]
): Promise<Installation> {
  const installed = await installation(...flags);
  await installed.here.apply(objects);
  return await install(installed);
}

/** Installs a webhook of one replica, whose registration's name begins with a prefix. Resolves once it changes pods. */
export async function startNamedInstallation(prefix: string): Promise<Installation> {
  return await install(await named(prefix, "--replicas", "1"));
}

async function install(installed: Installation): Promise<Installation> {
  const { here, name } = installed;
  const { code, stderr } = await installed.kubectl("apply", "--server-side");
  if (code !== 0) throw new Error(`kubectl apply: exit code ${code}\n${stderr}`);
  await here.until("all replicas are ready", async () => {
    const { spec, status } = await here.object<Deployment>(`deployment/${name}`);
    return status.readyReplicas === spec.replicas;
  });
  const asked = await installed.namespace();
  await here.until("a pod is changed", async () => (await createPod(asked, inject)).initContainers.length > 0);
  await asked[Symbol.asyncDispose]();
  return installed;
}

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly readyReplicas?: number };
}

/** The annotation by which a pod asks for ebb. */
export const inject = { "ebb.dev/inject": "true" };

/** The result of creating a pod. */
export interface Created {
  /** The HTTP status: 201, or the API server's refusal. */
  readonly status: number;
  /** The refusal's message; "" without one. */
  readonly message: string;
  /** The names of the pod's init containers. */
  readonly initContainers: readonly string[];
  /** The time, in ms, that the request took. */
  readonly ms: number;
}

/** Creates a pod with these annotations in a dry run, which goes through all admission. */
export async function createPod({ name }: Namespace, annotations: Readonly<Record<string, string>>): Promise<Created> {
  const pod = podOf("one", { containers: [{ name: "app", image: images.app, command: ["/child"] }] }, { annotations });
  const start = performance.now();
  const { status, text } = await request("POST", `/api/v1/namespaces/${name}/pods?dryRun=All`, pod);
  const { message = "", spec } = JSON.parse(text) as Partial<Pod> & { message?: string };
  const initContainers = (spec?.initContainers ?? []).map((container) => container.name);
  return { status, message, initContainers, ms: performance.now() - start };
}

/**
 * Creates pods that ask for ebb, in dry runs and four at a time, until `change` is over. It gets those created so far.
 * Resolves with all.
 */
export async function createdDuring(
  here: Namespace,
  change: (created: readonly Created[]) => Promise<void>,
): Promise<readonly Created[]> {
  const created: Created[] = [];
  let isOver = false;
  const create = async (): Promise<void> => {
    while (!isOver) created.push(await createPod(here, inject));
  };
  const creating = Promise.all([create(), create(), create(), create()]);
  try {
    await change(created);
  } finally {
    isOver = true;
    await creating;
  }
  return created;
}
