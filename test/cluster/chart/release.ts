import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartFolder } from "../../harness/chart-folder.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { kubectl, type Output, runProgram } from "../kubectl.ts";
import { reportOn } from "../report.ts";

/** The Helm that installs: the programs of that name in test/sidecars/programs.ts. */
type Helm = "helm" | "helm-4";

/** A release of the chart in a namespace of its own; `await using` it, which uninstalls it. Its name is the namespace's. */
export interface Release extends AsyncDisposable {
  readonly here: Namespace;
  /** What its objects' names begin with. */
  readonly name: string;
  /** Runs `helm WORDS...` in its namespace. */
  tryHelm(...words: readonly string[]): Promise<Output>;
  /** Does the same, and resolves with its stdout. Rejects with all that it said if it fails. */
  helm(...words: readonly string[]): Promise<string>;
  /** Runs `helm VERB RELEASE CHART WORDS...` with values, and waits until all is ready. */
  withChart(verb: "install" | "upgrade", values: object, ...words: readonly string[]): Promise<string>;
  /**
   * From the next upgrade on, `helm test` knows the address of the webhook's Service, because there is no DNS here.
   */
  nameService(): Promise<void>;
  /** Lists what there is of it in the cluster, as `KIND NAMESPACE/NAME`. */
  objects(): Promise<readonly string[]>;
}

/** Prepares a release, and installs nothing yet. */
export async function release(which: Helm): Promise<Release> {
  const here = await namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
  const folder = temporaryFolder();
  const chart = chartFolder(folder.path);
  const name = here.name.includes("ebb") ? here.name : `${here.name}-ebb`; // as charts do it; the name is hexadecimal
  const tryHelm = (...words: readonly string[]) => runHelm(which, folder.path, [...words, "--namespace", here.name]);
  const helm = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await tryHelm(...words);
    if (code !== 0)
      throw new Error(`helm ${words.join(" ")}: exit code ${code}\n${stdout}${stderr}${await reportOn(here.name)}`);
    return stdout;
  };
  return {
    here,
    name,
    tryHelm,
    helm,
    async withChart(verb, values, ...words) {
      const file = join(folder.path, "values.json");
      await Bun.write(file, JSON.stringify(values));
      return await helm(verb, here.name, chart, "--values", file, "--wait", "--timeout", "4m", ...words);
    },
    nameService: () => nameService(chart, name, here.name),
    objects: () => objectsOf(name),
    async [Symbol.asyncDispose]() {
      await tryHelm("uninstall", here.name, "--ignore-not-found");
      await here[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Writes the address of the Service of a release's webhook into a chart's test. */
export async function nameService(chart: string, name: string, namespace: string): Promise<void> {
  const words = ["get", "--namespace", namespace, `service/${name}-webhook`, "-o", "jsonpath={.spec.clusterIP}"];
  const aliases = [{ ip: await kubectl(words), hostnames: [`${name}-webhook.${namespace}.svc`] }];
  const template = join(chart, "templates/tests/webhook.yaml");
  const text = readFileSync(template, "utf8");
  writeFileSync(template, text.replace("\nspec:\n", `\nspec:\n  hostAliases: ${JSON.stringify(aliases)}\n`));
}

function runHelm(which: Helm, home: string, words: readonly string[]): Promise<Output> {
  const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  return runProgram([compiledProgram(which).path, ...words], { env });
}

/** Lists the objects of all kinds whose names begin with this one. */
export async function objectsOf(name: string): Promise<readonly string[]> {
  const kinds = (await kubectl(["api-resources", "--verbs=list", "-o", "name"])).trim().split("\n");
  const own = kinds.filter((kind) => !/^(events|componentstatuses|pods\.metrics|nodes\.metrics)/.test(kind)).join(",");
  const format = '{range .items[*]}{.kind}{" "}{.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const all = (await kubectl(["get", own, "--all-namespaces", "-o", `jsonpath=${format}`])).split("\n");
  return all.filter((line) => line.split("/")[1]?.startsWith(`${name}-`));
}

/** Returns the values of an image of the tests. */
export function imageValues(reference: string): { readonly repository: string; readonly tag: string } {
  const [, repository = "", tag = ""] = /^(.*):([^:]+)$/.exec(reference) ?? [];
  return { repository, tag };
}

/** Returns values with which the webhook is asked about pods in `asked` alone. */
export function valuesFor(asked: Namespace, more: object = {}): object {
  const only = { key: "kubernetes.io/metadata.name", operator: "In", values: [asked.name] };
  return { image: imageValues(images.ebb), webhook: { namespaceSelector: [only] }, ...more };
}
