import { isForbidden, isNotFound } from "../api/api-error.ts";
import type { ApiClient } from "../api/client.ts";
import type { KubeObject } from "../api/core/objects.ts";
import { pagesAt } from "../api/list.ts";
import type { Query } from "../api/query.ts";

/** Reads what may be read, and remembers what may not. */
export interface Reader {
  /** Resolves with an object; with "absent" if it does not exist, with undefined if it may not be read. */
  get<T extends KubeObject>(path: string): Promise<T | "absent" | undefined>;
  /** Calls `found` for each object of a collection, and keeps none. Resolves with false if they may not be read. */
  each<T extends KubeObject>(path: string, query: Query, found: (object: T) => void): Promise<boolean>;
  /** Resolves with the objects of a collection; with undefined if they may not be read. */
  all<T extends KubeObject>(path: string, query: Query): Promise<readonly T[] | undefined>;
  /** The messages of the API server about what may not be read. */
  readonly refusals: readonly string[];
  /** Whether anything could be read. */
  readonly hasRead: boolean;
}

/**
 * Creates a reader of the cluster that goes on without what it may not read: each 403 adds a line to `refusals`. Any
 * other failure of the API server rejects.
 */
export function createReader(api: ApiClient, signal: AbortSignal): Reader {
  const refusals = new Set<string>();
  let hasRead = false;
  const unlessRefused = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    try {
      const answer = await read();
      hasRead = true;
      return answer;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      refusals.add(error.message);
      return undefined;
    }
  };
  const each: Reader["each"] = async <T extends KubeObject>(path: string, query: Query, found: (object: T) => void) => {
    const read = async () => {
      for await (const { items } of pagesAt<T>(api, path, query, { signal })) for (const item of items) found(item);
      return true;
    };
    return (await unlessRefused(read)) ?? false;
  };
  return {
    each,
    async get<T extends KubeObject>(path: string) {
      try {
        return await unlessRefused(() => api.get<T>(path, { signal }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        hasRead = true;
        return "absent";
      }
    },
    async all<T extends KubeObject>(path: string, query: Query) {
      const objects: T[] = [];
      return (await each<T>(path, query, (object) => objects.push(object))) ? objects : undefined;
    },
    get refusals() {
      return [...refusals];
    },
    get hasRead() {
      return hasRead;
    },
  };
}
