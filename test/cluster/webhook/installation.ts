import { ebb } from "../../harness.ts";
import { request } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { type Output, tryKubectl } from "../kubectl.ts";
import { type KubeObject, type Pod, podOf } from "../objects.ts";

/** What `ebb manifests` prints, for a namespace and under a name of its own; `await using` it. */
export interface Installation extends AsyncDisposable {
  /** Where it is installed. */
  readonly here: Namespace;
  /** The name of its objects: `NAME-webhook`. */
  readonly name: string;
  readonly yaml: string;
  /** `kubectl WORDS... -f -`, with what was printed. */
  kubectl(...words: readonly string[]): Promise<Output>;
  /** A namespace whose pods it is asked about; no other one's are. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<Namespace>;
}

const LABEL = "ebb.dev/test";

/** Prints it, and installs nothing yet. What is installed later goes with the namespace. */
export async function installation(...flags: readonly string[]): Promise<Installation> {
  return await named("", ...flags);
}

/** The same; names of its objects begin with a prefix. The API server asks webhooks in the order of their registrations' names. */
async function named(prefix: string, ...flags: readonly string[]): Promise<Installation> {
  return await printed("webhook", (own) => ["--namespace-selector", `${LABEL}=${own}`, ...flags], prefix);
}

/** The same of a reaper. It looks after pods with the labels `reapedBy(installation)` alone. */
export async function reaperInstallation(flagsOf: (own: string) => readonly string[]): Promise<Installation> {
  return await printed("reaper", (name) => [
    "--selector",
    `${LABEL}=${name}`,
    "--allow-reap-exec",
    ...flagsOf(name),
    "reaper",
  ]);
}

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

/** The same, installed, and asked by the API server. */
export async function startInstallation(...flags: readonly string[]): Promise<Installation> {
  return await install(await installation(...flags));
}

/** The same with one replica, whose registration's name begins with a prefix. */
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

/** Asks for it. */
export const inject = { "ebb.dev/inject": "true" };

/** What becomes of a pod: it is created in a dry run, through all admission. */
export interface Created {
  /** 201, or the API server's refusal. */
  readonly status: number;
  readonly message: string;
  readonly initContainers: readonly string[];
  readonly ms: number;
}

export async function createPod({ name }: Namespace, annotations: Readonly<Record<string, string>>): Promise<Created> {
  const pod = podOf("one", { containers: [{ name: "app", image: images.app, command: ["/child"] }] }, { annotations });
  const start = performance.now();
  const { status, text } = await request("POST", `/api/v1/namespaces/${name}/pods?dryRun=All`, pod);
  const { message = "", spec } = JSON.parse(text) as Partial<Pod> & { message?: string };
  const initContainers = (spec?.initContainers ?? []).map((container) => container.name);
  return { status, message, initContainers, ms: performance.now() - start };
}

export interface Creating extends AsyncDisposable {
  readonly created: readonly Created[];
}

/** Creates pods that ask for ebb, four at a time, until it is disposed of. */
export function keepCreating(here: Namespace): Creating {
  const created: Created[] = [];
  let isOver = false;
  const create = async (): Promise<void> => {
    while (!isOver) {
      created.push(await createPod(here, inject));
    }
  };
  const creating = Promise.all([create(), create(), create(), create()]);
  return {
    created,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await creating;
    },
  };
}
