import pLimit from "p-limit";
import { type ImageQuery, type Lookup, queryKey } from "../../core/image/lookup.ts";
import type { InjectPolicy } from "../../core/inject/policy.ts";
import type { Images } from "../image/images.ts";
import { LOOKUP_MS } from "../image/reader.ts";

/** Look-ups at the same time. */
const AT_ONCE = 8;

/**
 * Runs an injection, which is pure, and if it needs images, looks them up together and runs it again. `createImages` is
 * called only then.
 */
export async function withLookups<T>(
  createImages: () => Images,
  inject: (imageOf: NonNullable<InjectPolicy["imageOf"]>) => T,
): Promise<T> {
  const wanted = new Map<string, ImageQuery>();
  const first = inject((query) => {
    wanted.set(queryKey(query), query);
    return undefined;
  });
  if (wanted.size === 0) return first;
  const images = createImages();
  const limit = pLimit(AT_ONCE);
  const find = async ([key, query]: readonly [string, ImageQuery]) =>
    [key, await limit(() => images.find(query, [], LOOKUP_MS))] as const;
  const found: ReadonlyMap<string, Lookup> = new Map(await Promise.all([...wanted].map(find)));
  return inject((query) => found.get(queryKey(query)));
}
