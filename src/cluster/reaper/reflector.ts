import { isExpired } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pagesAt } from "../api/list.ts";
import type { Query } from "../api/query.ts";
import { keepTrying, type Trying } from "../controller/keep-trying.ts";

/** What is listed and watched. */
export interface Reflected {
  readonly collection: string;
  readonly query: Query;
  /** The milliseconds between two lists of all objects, whatever the watch says in between. */
  readonly resyncMs: number;
  /** Returns what is kept of an object. */
  readonly trim: (object: KubeObject) => KubeObject;
}

/** What is told of objects. */
export interface Reflection {
  /**
   * Takes each object that is new, or of which something that is kept has changed; `isGone`: it does not exist, or is not
   * selected, any more.
   */
  readonly seen: (object: KubeObject, isGone: boolean) => void;
  /** Called after each complete list. */
  readonly listed: () => void;
  readonly interrupted?: (why: Interruption) => void;
}

/**
 * Why a watch did not go on: the API server `ended` it, as it does now and then; its version `expired`; it `failed`.
 */
export type Interruption = "ended" | "expired" | "failed";

const LONGEST_MS = 2 ** 31 - 1;

/** A cache of a collection's objects, by UID. */
export interface Reflector {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Keeps the cache up to date until the signal is aborted. Logs API failures and tries again. */
  run(trying: Trying): Promise<void>;
}

/** Creates a cache that lists a collection, and then watches it. */
export function createReflector(api: ApiClient, reflected: Reflected, reflection: Reflection): Reflector {
  const { collection, query, resyncMs, trim } = reflected;
  const { seen, listed, interrupted = () => undefined } = reflection;
  const objects = new Map<string, KubeObject>();
  let version: string | undefined;
  let resync = AbortSignal.abort();
  const take = (object: KubeObject, isGone: boolean): void => {
    const uid = uidOf(object);
    if (!isGone && Bun.deepEquals(objects.get(uid), object)) return; // most lists and changes show nothing new
    if (isGone) objects.delete(uid);
    else objects.set(uid, object);
    seen(object, isGone);
  };
  const relist = async (signal: AbortSignal): Promise<void> => {
    version = undefined; // a list that breaks off starts again
    const gone = new Map(objects);
    let listedVersion: string | undefined;
    for await (const { items, metadata } of pagesAt<KubeObject>(api, collection, query, { signal })) {
      listedVersion = metadata.resourceVersion;
      for (const object of items) {
        gone.delete(uidOf(object));
        take(trim(object), false);
      }
    }
    for (const object of gone.values()) take(object, true);
    version = listedVersion;
    resync = AbortSignal.timeout(Math.min(LONGEST_MS, Math.round(resyncMs * (0.8 + 0.4 * Math.random()))));
    listed();
  };
  const once = async (signal: AbortSignal): Promise<void> => {
    if (version === undefined || resync.aborted) await relist(signal);
    const ending = AbortSignal.any([signal, resync]);
    try {
      for await (const { type, object } of api.watch(collection, { ...query, resourceVersion: version }, ending)) {
        version = object.metadata.resourceVersion ?? version;
        if (type !== "BOOKMARK") take(trim(object), type === "DELETED");
      }
      interrupted("ended");
    } catch (error) {
      if (ending.aborted) return;
      if (isExpired(error)) version = undefined;
      throw error;
    }
  };
  return {
    objects,
    run: (trying) =>
      keepTrying(() => once(trying.signal), {
        failed: (error) => interrupted(isExpired(error) ? "expired" : "failed"),
        ...trying,
      }),
  };
}

function uidOf({ metadata }: KubeObject): string {
  return String(metadata.uid ?? metadata.name);
}
