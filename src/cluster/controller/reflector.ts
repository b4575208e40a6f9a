import { isResourceExpired } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { KubeObject } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import type { Query } from "../api/query.ts";
import { keepTrying, type Trying } from "./keep-trying.ts";

/** What is listed and watched. */
export interface Reflected {
  readonly collection: string;
  readonly query: Query;
  /** The milliseconds between two lists of all objects, whatever the watch says in between. */
  readonly resyncMs: number;
  /** Returns what tells an object from others: its UID, say. */
  readonly keyOf: (object: KubeObject) => string;
}

/** What is told of objects. */
interface Reflection<T> {
  /** Takes each object that is listed, and each that is new or has changed. */
  readonly seen: (object: T) => void;
  /** Takes the key of each that does not exist, or is not selected, any more. */
  readonly gone: (key: string) => void;
  /** Called after each complete list. */
  readonly listed: () => void;
  readonly interrupted?: (why: Interruption) => void;
}

/**
 * Why a watch did not go on: the API server `ended` it, as it does now and then; its version `expired`; it `failed`.
 */
export type Interruption = "ended" | "expired" | "failed";

const LONGEST_MS = 2 ** 31 - 1;

/** A list and watch of a collection. */
interface Reflector {
  /** Tells of its objects until the signal is aborted. Logs API failures and tries again. */
  run(trying: Trying): Promise<void>;
}

/** Creates what lists a collection, and then watches it. It remembers the keys of its objects alone. */
export function createReflector<T extends KubeObject>(
  api: ApiClient,
  reflected: Reflected,
  to: Reflection<T>,
): Reflector {
  const { collection, query, resyncMs, keyOf } = reflected;
  const { seen, gone, listed, interrupted = () => undefined } = to;
  const keys = new Set<string>();
  let version: string | undefined;
  let resync = AbortSignal.abort();
  const take = (object: T): void => {
    keys.add(keyOf(object));
    seen(object);
  };
  const drop = (key: string): void => {
    keys.delete(key);
    gone(key);
  };
  const relist = async (signal: AbortSignal): Promise<void> => {
    version = undefined; // a list that breaks off starts again
    const missing = new Set(keys);
    let listedVersion: string | undefined;
    for await (const { items, metadata } of pagesAt<T>(api, collection, query, { signal })) {
      listedVersion = metadata.resourceVersion;
      for (const object of items) {
        missing.delete(keyOf(object));
        take(object);
      }
    }
    for (const key of missing) drop(key);
    version = listedVersion;
    resync = AbortSignal.timeout(Math.min(LONGEST_MS, Math.round(resyncMs * (0.8 + 0.4 * Math.random()))));
    listed();
  };
  const once = async (signal: AbortSignal): Promise<void> => {
    if (version === undefined || resync.aborted) await relist(signal);
    const ending = AbortSignal.any([signal, resync]);
    try {
      for await (const { type, object } of api.watch<T>(collection, { ...query, resourceVersion: version }, ending)) {
        version = object.metadata.resourceVersion ?? version;
        if (type === "DELETED") drop(keyOf(object));
        else if (type !== "BOOKMARK") take(object);
      }
      interrupted("ended");
    } catch (error) {
      if (ending.aborted) return;
      if (isResourceExpired(error)) version = undefined;
      throw error;
    }
  };
  return {
    run: (trying) =>
      keepTrying(() => once(trying.signal), {
        failed: (error) => interrupted(isResourceExpired(error) ? "expired" : "failed"),
        ...trying,
      }),
  };
}
