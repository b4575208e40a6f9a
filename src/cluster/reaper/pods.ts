import type { Log } from "../../shared/output/log.ts";
import type { ApiClient } from "../api/client.ts";
import type { KubeObject, Pod } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import { createReflector, type Interruption, type Reflected } from "../controller/reflector.ts";
import { type PodView, viewOf } from "./core/pod-view.ts";
import { type WatchedNamespaces, watchNamespaces } from "./namespaces.ts";

/** Which pods to watch. */
export interface WatchedPods extends WatchedNamespaces {
  /** A label selector; undefined: all pods. */
  readonly selector: string | undefined;
}

/** What takes the pods that a watch shows. */
interface PodsSeen {
  /** Takes a pod that is listed, is new or has changed. */
  changed(pod: PodView): void;
  /** Takes the UID of one that no longer exists, runs or has the selected labels. */
  gone(uid: string): void;
  /** Takes a namespace whose label ebb.dev/reap changed. */
  namespaceChanged(name: string): void;
}

/** A watch of the running pods and of their namespaces' label ebb.dev/reap. */
export interface PodSource {
  /** Tells of pods until the signal is aborted. Logs API failures and tries again. */
  run(seen: PodsSeen, signal: AbortSignal): Promise<void>;
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
 * Creates a watch of the running pods, of each namespace or of all at once. `interrupted` is called whenever it does not
 * go on.
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
  const scopes = reflectedBy(which);
  return {
    async run({ changed, gone, namespaceChanged }, signal) {
      const reflectors = scopes.map((reflected) =>
        createReflector<Pod>(api, reflected, {
          seen: (pod) => changed(viewOf(pod)),
          gone,
          listed() {
            syncs.set(reflected.collection, Date.now());
            if (syncs.size === scopes.length) listed.resolve();
          },
          interrupted,
        }),
      );
      const watched = namespaces.run(namespaceChanged, signal);
      await namespaces.synced(signal); // a pod is judged by its namespace's label, too
      const message = "cannot watch pods: retrying";
      await Promise.all([watched, ...reflectors.map((each) => each.run({ message, log, signal }))]);
    },
    syncedAt: () => (syncs.size < scopes.length ? undefined : Math.min(...syncs.values())),
    listed: listed.promise,
    namespaces: () => namespaces.labels(),
  };
}

/** Lists the running pods of the namespaces and selector in `which`. Rejects with ApiError. */
export async function readPods(api: ApiClient, which: WatchedPods, signal: AbortSignal): Promise<readonly PodView[]> {
  const found: PodView[] = [];
  for (const { collection, query } of reflectedBy(which))
    for await (const { items } of pagesAt<Pod>(api, collection, query, { signal })) found.push(...items.map(viewOf));
  return found;
}

/** Selects running pods, of each namespace or of all: the watch reports a pod that stops running as deleted. */
function reflectedBy({ namespaces, selector, resyncMs }: WatchedPods): readonly Reflected[] {
  const collections = [...new Set(namespaces)].map((namespace) => `/api/v1/namespaces/${namespace}/pods`);
  const query = { fieldSelector: "status.phase=Running", labelSelector: selector };
  const keyOf = ({ metadata }: KubeObject) => String(metadata.uid);
  const all = collections.length === 0 ? ["/api/v1/pods"] : collections;
  return all.map((collection) => ({ collection, query, resyncMs, keyOf }));
}
