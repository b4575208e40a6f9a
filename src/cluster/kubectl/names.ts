import type { KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import { type Completion, nameLines } from "./core/completion.ts";
import { type Around, openSession } from "./session.ts";

type Asked = Exclude<Completion, { readonly kind: "lines" }>;

/** Resolves with kubectl's lines for the names in the cluster, or the kubeconfig, that can stand in a word. */
export async function completeNames({ kind, typed, prefix, ...place }: Asked, around: Around): Promise<string> {
  if (kind === "contexts") {
    const { readContexts } = await import("../api/kubeconfig.ts");
    return nameLines(await readContexts({ ...place, env: around.env }), typed, prefix);
  }
  const { api, namespace } = await openSession(place, around);
  const path = kind === "pods" ? `/api/v1/namespaces/${namespace}/pods` : "/api/v1/namespaces";
  const names: string[] = [];
  for await (const { items } of pagesAt<KubeObject>(api, path, {}, { signal: around.signal, retries: 0 }))
    names.push(...items.map(({ metadata }) => metadata.name));
  return nameLines(names, typed, prefix);
}
