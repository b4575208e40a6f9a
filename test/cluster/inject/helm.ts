import { join } from "node:path";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { read } from "../api.ts";
import { runTool } from "../rig/daemon.ts";

/** A Helm chart and its values. */
export interface Chart {
  readonly release: string;
  /** The path of its folder. */
  readonly path: string;
  readonly namespace: string;
  readonly values: object;
  /** The path of the only template to render; undefined for all. */
  readonly only?: string;
}

/** Renders a chart with `helm template`, for the cluster's version of Kubernetes. */
export async function render({ release, path, namespace, values, only }: Chart): Promise<string> {
  using folder = temporaryFolder();
  const file = join(folder.path, "values.json");
  await Bun.write(file, JSON.stringify(values));
  const version = (await read<{ readonly gitVersion: string }>("/version"))?.gitVersion ?? ""; // a Helm that is no release assumes an old one
  const words = ["template", release, path, "--namespace", namespace, "--values", file, "--kube-version", version];
  return await runTool(compiledProgram("helm").path, ...words, ...(only === undefined ? [] : ["--show-only", only]));
}
