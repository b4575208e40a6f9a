import pLimit from "p-limit";
import type { RegistryAuths } from "../../core/image/auths.ts";
import { type ImageQuery, type Lookup, queryKey } from "../../core/image/lookup.ts";
import { unknown } from "../../core/image/platform.ts";
import type { InjectPolicy } from "../../core/inject/policy.ts";
import type { Images } from "../image/images.ts";
import { type PullSecrets, type Reviewed, review, type Unknown } from "./admission.ts";

/** The credentials with which a pod's images are looked up. */
export interface Credentials {
  /** Returns those that are remembered; undefined if a Secret must be read first. */
  known(secrets: PullSecrets): readonly RegistryAuths[] | undefined;
  /** Resolves with them after at most `waitMs`, without those that cannot be read. Never rejects. */
  read(secrets: PullSecrets, waitMs: number): Promise<readonly RegistryAuths[]>;
}

/** No credentials, without --pull-secrets. */
export const noCredentials: Credentials = { known: () => [], read: async () => [] };

/** What a reviewer asks. */
export interface ReviewerSettings {
  readonly images: Images;
  readonly credentials: Credentials;
  /** The most bytes of the bodies of requests that wait. */
  readonly mostWaitingBytes: number;
}

/** Reads requests, and decides about their pods. */
export interface Reviewer {
  /** How many requests wait for registries. */
  readonly waiting: number;
  /**
   * Reads an AdmissionReview and decides about its pod (`review`). If the pod has images of which nothing is known, it
   * waits for registries until `deadlineMs` (by performance.now()), and decides then. Meanwhile it holds only the body:
   * what is parsed takes ten times as much memory. Never rejects.
   */
  decide(body: Uint8Array, policy: InjectPolicy, deadlineMs: number): Promise<Decision | { readonly problem: string }>;
}

/** A decision about a pod. */
export interface Decision extends Reviewed {
  /** The images, by `queryKey`, that were not known at once. */
  readonly waitedFor: ReadonlySet<string>;
}

/** Creates a reviewer. */
export function createReviewer({ images, credentials, mostWaitingBytes }: ReviewerSettings): Reviewer {
  const inTurn = pLimit(1);
  let waiting = 0;
  let waitingBytes = 0;
  const known = (query: ImageQuery, secrets: PullSecrets, refusal?: Lookup): Lookup | undefined => {
    const anonymous = images.known(query, []);
    if (anonymous?.kind === "unknown" && anonymous.failure === "not-allowed") return anonymous; // no Secret is read
    const auths = credentials.known(secrets);
    return auths === undefined ? refusal : images.known(query, auths, refusal);
  };
  const find = async ({ queries, secrets }: Unknown, deadlineMs: number): Promise<ReadonlyMap<string, Lookup>> => {
    const leftMs = () => deadlineMs - performance.now();
    const auths = await credentials.read(secrets, leftMs());
    const found = queries.map(async (query) => [queryKey(query), await images.find(query, auths, leftMs())] as const);
    return new Map(await Promise.all(found));
  };
  const wait = async (unknown: Unknown, bytes: number, deadlineMs: number): Promise<ReadonlyMap<string, Lookup>> => {
    if (waitingBytes + bytes > mostWaitingBytes) return new Map();
    waiting += 1;
    waitingBytes += bytes;
    try {
      return await find(unknown, deadlineMs);
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
      const first = review(body, policy, known);
      if (!("unknown" in first)) return "problem" in first ? first : { ...first, waitedFor: new Set() };
      const found = await wait(first.unknown, body.length, deadlineMs);
      const second = await inTurn(async () => {
        await nextTurn(); // many may have waited for one answer, and other requests must be read meanwhile
        return review(body, policy, (query, secrets) => found.get(queryKey(query)) ?? known(query, secrets, busy));
      });
      if (!("body" in second)) throw new Error("a decision that waits twice");
      return { ...second, waitedFor: new Set(first.unknown.queries.map(queryKey)) };
    },
  };
}

/** Resolves once the event loop has looked at sockets and timers. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What is known of an image if the requests that wait take all memory that is meant for them. */
const busy = unknown("timeout", "too many pods wait for registries: create the pod again");
