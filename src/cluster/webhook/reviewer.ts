import pLimit from "p-limit";
import { type ImageQuery, type Lookup, queryKey } from "../image/core/lookup.ts";
import { unknown } from "../image/core/platform.ts";
import type { ImageCache } from "../image/image-cache.ts";
import type { InjectPolicy } from "../inject/core/policy.ts";
import { type ImageFor, type MissingImages, type Reviewed, review } from "./admission.ts";
import { type Credentials, findImages, rememberedImage } from "./pod-images.ts";

/** What a reviewer asks. */
interface ReviewerSettings {
  readonly images: ImageCache;
  readonly credentials: Credentials;
  /** The most bytes of the bodies of requests that wait. */
  readonly mostWaitingBytes: number;
}

/** Reads requests, and decides about their pods. */
interface Reviewer {
  /** How many requests wait for registries. */
  readonly waiting: number;
  /**
   * Reads an AdmissionReview and decides about its pod (`review`). If the pod has images of which nothing is remembered, it
   * waits for registries until `deadlineMs` (by performance.now()), and decides then. Meanwhile it holds only the body:
   * what is parsed takes ten times as much memory. Never rejects.
   */
  decide(body: Uint8Array, policy: InjectPolicy, deadlineMs: number): Promise<Decision | { readonly problem: string }>;
}

/** A decision about a pod. */
export interface Decision extends Reviewed {
  /** The images, by `queryKey`, that were not remembered. */
  readonly waitedFor: ReadonlySet<string>;
}

/** Creates a reviewer. */
export function createReviewer({ mostWaitingBytes, ...sources }: ReviewerSettings): Reviewer {
  const inTurn = pLimit(1);
  let waiting = 0;
  let waitingBytes = 0;
  const wait = async (missing: MissingImages, bytes: number, deadlineMs: number) => {
    if (waitingBytes + bytes > mostWaitingBytes) return new Map<string, Lookup>();
    waiting += 1;
    waitingBytes += bytes;
    try {
      return await findImages(sources, missing, deadlineMs);
    } finally {
      waiting -= 1;
      waitingBytes -= bytes;
    }
  };
  return {
    get waiting() {
      return waiting;
    },
    async decide(body, policy, deadlineMs) {
      const remembered: ImageFor = (query, secrets) => rememberedImage(sources, query, secrets);
      const first = review(body, policy, { imageFor: remembered });
      if (!("missing" in first)) return "problem" in first ? first : { ...first, waitedFor: new Set() };
      const { secrets } = first.missing;
      const queries = distinct(first.missing.queries);
      const found = await wait({ queries, secrets }, body.length, deadlineMs);
      const imageFor: ImageFor = (query) =>
        found.get(queryKey(query)) ?? rememberedImage(sources, query, secrets, busy);
      const second = await inTurn(async () => {
        await nextTurn(); // many may have waited for one answer, and other requests must be read meanwhile
        return review(body, policy, { imageFor, wasRead: true });
      });
      if (!("body" in second)) throw new Error("a decision that waits twice");
      return { ...second, waitedFor: new Set(queries.map(queryKey)) };
    },
  };
}

function distinct(queries: readonly ImageQuery[]): readonly ImageQuery[] {
  return [...new Map(queries.map((query) => [queryKey(query), query])).values()];
}

/** Resolves once the event loop has looked at sockets and timers. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The answer for images if the requests that wait take all memory that is meant for them. */
const busy = unknown("timeout", "too many pods wait for registries: create the pod again");
