import type { Environment } from "../../shared/core/environment.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { writeOutput } from "../../shared/output/output.ts";
import { isNotFound } from "../api/api-error.ts";
import { type ApiClient, findApiServer } from "../api/client.ts";
import type { Context } from "../api/context.ts";
import type { Pod } from "../api/core/objects.ts";
import { type PodView, viewOf } from "../reaper/core/pod-view.ts";
import { pathOf } from "../reaper/methods/target.ts";
import type { ClusterSettings } from "./core/options.ts";

/** What each command needs: the environment, the log, the signal that ends it. */
export interface PluginDeps extends Context {
  readonly env: Environment;
}

/** The API server that is asked, and the namespace. */
export interface PluginSession extends PluginDeps {
  readonly api: ApiClient;
  readonly namespace: string;
}

/** A pod that is asked. */
export interface PodSession extends PluginSession {
  readonly pod: PodView;
  /** As the API server sent it. */
  readonly object: Pod;
}

/** Finds the API server as kubectl does, and the namespace of --namespace or of the context. */
export async function openSession(settings: ClusterSettings, deps: PluginDeps): Promise<PluginSession> {
  const { kubeconfig, context, namespace } = settings;
  const api = await findApiServer({ env: deps.env, kubeconfig, context }, deps.log);
  return { ...deps, api, namespace: namespace ?? api.namespace };
}

/** Opens a session and reads a pod. Rejects with Failure(64) if there is none. */
export async function openPod(name: string, settings: ClusterSettings, deps: PluginDeps): Promise<PodSession> {
  const session = await openSession(settings, deps);
  const { api, namespace, signal } = session;
  try {
    const object = await api.get<Pod>(pathOf({ namespace, name }), { signal });
    return { ...session, object, pod: viewOf(object) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Failure(EXIT.usage, `pod ${name}: not in namespace ${namespace}; kubectl get pods lists them`);
  }
}

export type Format = "json" | "yaml" | "wide" | undefined;

/** Writes a document in the format of --output, as lines unless that is json or yaml. */
export async function print(document: unknown, lines: readonly string[], format: Format): Promise<void> {
  if (format === "json") await writeOutput(`${JSON.stringify(document, null, 2)}\n`);
  else if (format === "yaml") await writeOutput(`${Bun.YAML.stringify(document, null, 2)}\n`);
  else await writeOutput(lines.map((line) => `${line}\n`).join(""));
}
