import { join, resolve } from "node:path";
import { type Any, objectsOf } from "../../binary/cluster/printed-manifests.ts";
import { type Output, runProgram } from "../../cluster/kubectl.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";

// What Helm makes of the chart.

/** The folder of the chart. */
export const chart = resolve(import.meta.dirname, "../../../build/chart");

/** A Helm: the programs of that name in test/sidecars/programs.ts. */
export type Helm = "helm" | "helm-4";

export const helms: readonly Helm[] = ["helm", "helm-4"];

/** Objects by their kinds and names: `Deployment ebb-webhook`, or with its namespace `Role shop/ebb-reaper`. */
export type Objects = Readonly<Record<string, Any>>;

/** The image that `render` and `tryHelm` set, without its tag. */
export const repository = "registry.example.com/ebb";

/** Runs `helm WORDS...` on the chart, as the release ebb in the namespace mesh. */
export async function tryHelm(helm: Helm, words: readonly string[], values: object, release = "ebb"): Promise<Output> {
  using scratch = temporaryFolder();
  const file = join(scratch.path, "values.json");
  await Bun.write(file, JSON.stringify(values));
  const [verb = "", ...flags] = [...words, "--namespace", "mesh", "--values", file];
  const env = { HELM_CACHE_HOME: scratch.path, HELM_CONFIG_HOME: scratch.path, HELM_DATA_HOME: scratch.path };
  return await runProgram([compiledProgram(helm).path, verb, release, chart, ...flags], { env });
}

/** The words of `helm template` for a Kubernetes that has all that the chart needs. */
export const template = ["template", "--kube-version", "1.36.3"] as const;

/** Values of the chart. */
export interface Values {
  readonly image?: object;
  readonly [key: string]: unknown;
}

/** Returns the objects that Helm makes of these values, without its tests. Rejects with what it says if it fails. */
export async function render(helm: Helm, { image, ...values }: Values): Promise<Objects> {
  const { code, stdout, stderr } = await tryHelm(helm, template, { image: { repository, ...image }, ...values });
  if (code !== 0) throw new Error(`helm template: ${stderr}`);
  return byName(objectsOf(stdout).filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"] === undefined));
}

/** @throws Error if two objects have the same name */
export function byName(objects: readonly Any[]): Objects {
  const named = new Map<string, Any>();
  for (const object of objects) {
    const { name, namespace = "mesh" } = object.metadata;
    const key = `${object.kind} ${namespace === "mesh" ? "" : `${namespace}/`}${name}`;
    if (named.has(key)) throw new Error(`${key} is there twice`);
    named.set(key, object);
  }
  return Object.fromEntries(named);
}
