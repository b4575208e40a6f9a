import type { JsonObject } from "../../core/base/json.ts";
import { trimPod } from "../../core/reap/trimmed-pod.ts";
import type { Log } from "../../system/output/log.ts";
import { ApiError } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { listAt } from "../api/list.ts";
import { type Query, withQuery } from "../api/query.ts";
import { keepTrying } from "../controller/keep-trying.ts";
import type { PodRef } from "./act/acting.ts";
import { watchNamespaces } from "./namespaces.ts";

/** A pod as it was last seen. `pod` is undefined if it no longer exists, runs or has the selected labels. */
export interface PodChange extends PodRef {
  readonly pod: KubeObject | undefined;
}

/** Which pods to watch. */
export interface WatchedPods {
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** A label selector; undefined: all pods. */
  readonly selector: string | undefined;
  /** How often all pods are listed anew, whatever the watch has said. */
  readonly resyncMs: number;
}

/** A cache of the running pods and of their namespaces' label ebb.dev/reap. */
export interface PodSource {
  /**
   * Keeps the cache up to date until the signal is aborted. Calls `seen` with each listed pod, with each change, and
   * with each pod of a namespace whose label changed. Logs API failures and tries again.
   */
  run(seen: (change: PodChange) => void, signal: AbortSignal): Promise<void>;
  get(uid: string): KubeObject | undefined;
  all(): Iterable<KubeObject>;
  /** How many pods are cached. */
  readonly size: number;
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
 * Why a watch did not go on: the API server `ended` it, as it does now and then; its version `expired`; it `failed`.
 */
export type Interruption = "ended" | "expired" | "failed";

const PAGE = 500;
const LONGEST_MS = 2 ** 31 - 1;

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
  const pods = new Map<string, KubeObject>();
  const scopes = which.namespaces.length === 0 ? [undefined] : [...new Set(which.namespaces)];
  const syncs = new Map<string | undefined, number>();
  const listed = Promise.withResolvers<void>();
  const labels = watchNamespaces(api, which, log);
  return {
    async run(seen, signal) {
      const put = (pod: KubeObject | undefined, named: PodRef): void => {
        if (pod === undefined) pods.delete(named.uid);
        else pods.set(named.uid, pod);
        seen({ ...named, pod });
      };
      const changed = (namespace: string): void => {
        for (const pod of pods.values()) {
          if (pod.metadata.namespace === namespace) seen({ ...podRefOf(pod), pod });
        }
      };
      const namespaces = labels.run(changed, signal);
      await labels.known(signal); // a pod is judged by its namespace's label, too
      const watching = scopes.map((namespace) => {
        const scope = createScope(api, { ...which, namespace }, { pods, put, interrupted });
        const synced = (): void => {
          syncs.set(namespace, Date.now());
          if (syncs.size === scopes.length) listed.resolve();
        };
        const message = "cannot watch pods: retrying";
        const failed = (): void => interrupted("failed");
        return keepTrying((isFine) => scope(synced, isFine, signal), { message, failed, log, signal });
      });
      await Promise.all([namespaces, ...watching]);
    },
    get: (uid) => pods.get(uid),
    all: () => pods.values(),
    get size() {
      return pods.size;
    },
    syncedAt: () => (syncs.size < scopes.length ? undefined : Math.min(...syncs.values())),
    listed: listed.promise,
    namespaces: () => labels.said(),
  };
}

/**
 * Lists the running pods of the namespaces and selector in `which`, trimmed (trimPod), 500 in a request. Rejects with
 * ApiError.
 */
export async function listPods(
  api: ApiClient,
  which: WatchedPods,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  for (const namespace of which.namespaces.length === 0 ? [undefined] : new Set(which.namespaces)) {
    const scope = { ...which, namespace };
    await list(api, { collection: collectionOf(scope), query: queryOf(scope) }, signal, (pod) => found.push(pod));
  }
  return found;
}

/** Returns a pod's UID, namespace and name. */
export function podRefOf({ metadata }: KubeObject): PodRef {
  return { uid: String(metadata.uid), namespace: metadata.namespace ?? "", name: metadata.name };
}

interface Scope extends WatchedPods {
  readonly namespace: string | undefined;
}

interface Kept {
  readonly pods: ReadonlyMap<string, KubeObject>;
  readonly put: (pod: KubeObject | undefined, named: PodRef) => void;
  readonly interrupted: (why: Interruption) => void;
}

/**
 * Creates a function that watches one namespace, or all, until the watch ends. It lists first if nothing is listed yet,
 * the resync period is over, or the version has expired.
 */
function createScope(api: ApiClient, scope: Scope, { pods, put, interrupted }: Kept) {
  const collection = collectionOf(scope);
  const query = queryOf(scope);
  let version: string | undefined;
  let resync = AbortSignal.abort();
  const relist = async (signal: AbortSignal): Promise<void> => {
    const known = [...pods.values()].filter((pod) => scope.namespace === undefined || isIn(pod, scope.namespace));
    const gone = new Map(known.map((pod) => [String(pod.metadata.uid), podRefOf(pod)]));
    version = await list(api, { collection, query }, signal, (pod) => {
      const named = podRefOf(pod);
      gone.delete(named.uid);
      put(pod, named);
    });
    for (const named of gone.values()) put(undefined, named);
    resync = AbortSignal.timeout(Math.min(LONGEST_MS, Math.round(scope.resyncMs * (0.8 + 0.4 * Math.random()))));
  };
  const follow = async (isFine: () => void, signal: AbortSignal): Promise<void> => {
    const asked: Query = { ...query, resourceVersion: version };
    for await (const { type, object } of api.watch<KubeObject>(collection, asked, signal)) {
      isFine();
      version = object.metadata.resourceVersion ?? version;
      if (type === "BOOKMARK") continue;
      put(type === "DELETED" ? undefined : trimmed(object), podRefOf(object));
    }
  };
  return async (synced: () => void, isFine: () => void, signal: AbortSignal): Promise<void> => {
    if (version === undefined || resync.aborted) {
      version = undefined; // a list that breaks off is begun anew
      await relist(signal);
      synced();
      isFine();
    }
    try {
      await follow(isFine, AbortSignal.any([signal, resync]));
      interrupted("ended");
    } catch (error) {
      if (signal.aborted || resync.aborted) return;
      if (!(error instanceof ApiError && error.status === 410)) throw error;
      version = undefined;
      interrupted("expired");
    }
  };
}

function collectionOf({ namespace }: Scope): string {
  return namespace === undefined ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
}

/** Selects running pods: the watch reports a pod that stops running as deleted. */
function queryOf({ selector }: Scope): Query {
  return { fieldSelector: "status.phase=Running", labelSelector: selector };
}

function isIn(pod: KubeObject, namespace: string): boolean {
  return pod.metadata.namespace === namespace;
}

/** Lists in pages, with one in memory at a time. Resolves with the version from which a watch can go on. */
async function list(
  api: ApiClient,
  { collection, query }: { readonly collection: string; readonly query: Query },
  signal: AbortSignal,
  found: (pod: KubeObject) => void,
): Promise<string | undefined> {
  let rest: string | undefined;
  for (;;) {
    const asked = { ...query, limit: PAGE, continue: rest };
    const { items, metadata } = await listAt<KubeObject>(api, withQuery(collection, asked), { signal });
    for (const item of items) found(trimmed(item));
    rest = metadata.continue || undefined;
    if (rest === undefined) return metadata.resourceVersion;
  }
}

function trimmed(pod: KubeObject): KubeObject {
  return trimPod(pod as unknown as JsonObject) as unknown as KubeObject;
}
