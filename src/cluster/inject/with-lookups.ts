import pLimit from "p-limit";
import { type ImageQuery, type Lookup, queryKey } from "../image/core/lookup.ts";
import type { ImageCache } from "../image/image-cache.ts";
import { LOOKUP_MS } from "../image/reader.ts";
import { type Injection, injectPod } from "./core/inject-pod.ts";
import type { InjectPolicy } from "./core/policy.ts";

/** Look-ups at the same time. */
const AT_ONCE = 8;

/**
 * Calls `change` with a function that injects into one pod. If images are missing for some pods, looks them up together,
 * and calls it again: then no injection is incomplete. `createCache` is called only then.
 */
export async function withLookups<T>(
  createCache: () => ImageCache,
  change: (inject: (pod: unknown, policy: InjectPolicy) => Injection) => T,
): Promise<T> {
  const missing = new Map<string, ImageQuery>();
  const found = new Map<string, Lookup>();
  const imageOf = (query: ImageQuery) => found.get(queryKey(query));
  const changed = change((pod, policy) => {
    const injection = injectPod(pod, { ...policy, imageOf });
    if (injection.kind === "incomplete") for (const query of injection.missing) missing.set(queryKey(query), query);
    return injection;
  });
  if (missing.size === 0) return changed;
  const cache = createCache();
  const limit = pLimit(AT_ONCE);
  const find = async ([key, query]: readonly [string, ImageQuery]) =>
    found.set(key, await limit(() => cache.find(query, [], LOOKUP_MS)));
  await Promise.all([...missing].map(find));
  return change((pod, policy) => injectPod(pod, { ...policy, imageOf }));
}
