import type { JsonObject } from "../../shared/core/json.ts";
import type { Log } from "../../shared/output/log.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import { trimPod } from "./core/trimmed-pod.ts";
import { type WatchedNamespaces, watchNamespaces } from "./namespaces.ts";
import { createReflector, type Interruption, type Reflected } from "./reflector.ts";

/** Which pods to watch. */
export interface WatchedPods extends WatchedNamespaces {
  /** A label selector; undefined: all pods. */
  readonly selector: string | undefined;
}

/** Takes a pod as it was last seen. `isGone`: it no longer exists, runs or has the selected labels. */
export type PodSeen = (pod: KubeObject, isGone: boolean) => void;

/** A cache of the running pods and of their namespaces' label ebb.dev/reap. */
export interface PodSource {
  /**
   * Keeps the cache up to date until the signal is aborted. Calls `seen` with each new pod, with each change of what is
   * kept of one, and with each pod of a namespace whose label changed. Logs API failures and tries again.
   */
  run(seen: PodSeen, signal: AbortSignal): Promise<void>;
  get(uid: string): KubeObject | undefined;
  all(): Iterable<KubeObject>;
  /**
   * Returns when the last complete list was there, in milliseconds since the epoch: of several namespaces the oldest.
   * Undefined until all have been listed.
   */
  syncedAt(): number | undefined;
  /** Resolves when all namespaces have been listed for the first time. */
  readonly listed: Promise<void>;
  /** Returns the value of the label ebb.dev/reap by namespace. Namespaces without the label are absent. */
  namespaces(): ReadonlyMap<string, string>;
}

/**
 * Creates a cache of the running pods; `run` fills it and watches, each namespace or all at once. Pods are trimmed
 * (trimPod). `interrupted` is called whenever a watch does not go on.
 */
export function watchPods(
  api: ApiClient,
  which: WatchedPods,
  log: Log,
  interrupted: (why: Interruption) => void = () => undefined,
): PodSource {
  const syncs = new Map<string, number>();
  const listed = Promise.withResolvers<void>();
  const namespaces = watchNamespaces(api, which, log);
  let tell: PodSeen = () => undefined;
  const scopes = reflectedBy(which);
  const reflectors = scopes.map((reflected) =>
    createReflector(api, reflected, {
      seen: (pod, isGone) => tell(pod, isGone),
      listed() {
        syncs.set(reflected.collection, Date.now());
        if (syncs.size === scopes.length) listed.resolve();
      },
      interrupted,
    }),
  );
  const all = () => reflectors.flatMap(({ objects }) => [...objects.values()]);
  return {
    async run(seen, signal) {
      tell = seen;
      const watched = namespaces.run((namespace) => {
        for (const pod of all()) if (pod.metadata.namespace === namespace) seen(pod, false);
      }, signal);
      await namespaces.synced(signal); // a pod is judged by its namespace's label, too
      const message = "cannot watch pods: retrying";
      await Promise.all([watched, ...reflectors.map((each) => each.run({ message, log, signal }))]);
    },
    get: (uid) => reflectors.map(({ objects }) => objects.get(uid)).find((pod) => pod !== undefined),
    all,
    syncedAt: () => (syncs.size < scopes.length ? undefined : Math.min(...syncs.values())),
    listed: listed.promise,
    namespaces: () => namespaces.labels(),
  };
}

/** Lists the running pods of the namespaces and selector in `which`, trimmed (trimPod). Rejects with ApiError. */
export async function listPods(
  api: ApiClient,
  which: WatchedPods,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const { collection, query, trim } of reflectedBy(which))
    for await (const { items } of pagesAt<KubeObject>(api, collection, query, { signal }))
      found.push(...items.map(trim));
  return found;
}

/** Selects running pods, of each namespace or of all: the watch reports a pod that stops running as deleted. */
function reflectedBy({ namespaces, selector, resyncMs }: WatchedPods): readonly Reflected[] {
  const collections = [...new Set(namespaces)].map((namespace) => `/api/v1/namespaces/${namespace}/pods`);
  const query = { fieldSelector: "status.phase=Running", labelSelector: selector };
  const trim = (pod: KubeObject) => trimPod(pod as unknown as JsonObject) as unknown as KubeObject;
  const all = collections.length === 0 ? ["/api/v1/pods"] : collections;
  return all.map((collection) => ({ collection, query, resyncMs, trim }));
}
