import type { KubeObject } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import { type Completion, nameLines } from "./core/completion.ts";
import { openSession, type PluginDeps } from "./session.ts";

type NameCompletion = Exclude<Completion, { readonly kind: "lines" }>;

/** Resolves with kubectl's lines for the names in the cluster, or the kubeconfig, that can stand in a word. */
export async function completeNames(
  { kind, typed, prefix, ...settings }: NameCompletion,
  deps: PluginDeps,
): Promise<string> {
  if (kind === "contexts") {
    const { readContexts } = await import("../api/kubeconfig.ts");
    return nameLines(await readContexts({ ...settings, env: deps.env }), typed, prefix);
  }
  const { api, namespace } = await openSession(settings, deps);
  const path = kind === "pods" ? `/api/v1/namespaces/${namespace}/pods` : "/api/v1/namespaces";
  const names: string[] = [];
  for await (const { items } of pagesAt<KubeObject>(api, path, {}, { signal: deps.signal, retries: 0 }))
    names.push(...items.map(({ metadata }) => metadata.name));
  return nameLines(names, typed, prefix);
}
