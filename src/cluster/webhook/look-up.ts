import pLimit from "p-limit";
import { formatDuration } from "../../shared/core/duration.ts";
import type { RegistryAuths } from "../image/core/auths.ts";
import { type ImageQuery, type Lookup, type LookupFailure, queryKey } from "../image/core/lookup.ts";
import { unknown as unknownImage } from "../image/core/platform.ts";
import type { Images } from "../image/images.ts";
import type { InjectPolicy } from "../inject/core/policy.ts";
import { type PullSecrets, type Reviewed, review, type Unknown } from "./admission.ts";

/** What the Secrets of a pod give. */
export interface PullCredentials {
  readonly auths: readonly RegistryAuths[];
  /** Why some are not used: `the Secret "team" does not exist`. */
  readonly unused: readonly string[];
  /** Whether the API server has not given all of them in time. */
  readonly isLate: boolean;
}

/** The credentials with which a pod's images are looked up. */
export interface Credentials {
  /** Returns those that are remembered; undefined if a Secret must be read first. */
  known(secrets: PullSecrets): PullCredentials | undefined;
  /** Resolves with them after at most `waitMs`. Never rejects. */
  read(secrets: PullSecrets, waitMs: number): Promise<PullCredentials>;
}

const none: PullCredentials = { auths: [], unused: [], isLate: false };
/** No credentials, without --pull-secrets. */
export const noCredentials: Credentials = { known: () => none, read: async () => none };

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
    const pulled = credentials.known(secrets);
    if (pulled === undefined) return refusal;
    const lookup = images.known(query, pulled.auths, refusal);
    return lookup && withUnused(lookup, pulled);
  };
  const late = (query: ImageQuery, { auths, unused }: PullCredentials): Lookup => {
    const refusal = unknownImage("timeout", unused.join("; "));
    return images.known(query, auths, refusal) ?? refusal;
  };
  const find = async ({ queries, secrets }: Unknown, deadlineMs: number): Promise<ReadonlyMap<string, Lookup>> => {
    const start = performance.now();
    const pulled = await credentials.read(secrets, deadlineMs - start);
    const [readMs, limitMs] = [performance.now() - start, deadlineMs - performance.now()];
    const findOne = async (query: ImageQuery): Promise<Lookup> => {
      if (pulled.isLate) return late(query, pulled);
      const lookup = withUnused(await images.find(query, pulled.auths, limitMs), pulled);
      return readMs > limitMs ? withReason(lookup, ["timeout"], slowSecrets(readMs)) : lookup;
    };
    return new Map(await Promise.all(queries.map(async (query) => [queryKey(query), await findOne(query)] as const)));
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
      const { queries, secrets } = first.unknown;
      const wanted = [...new Map(queries.map((query) => [queryKey(query), query])).values()].slice(0, MOST_IMAGES);
      const found = await wait({ queries: wanted, secrets }, body.length, deadlineMs);
      const refusal = found.size === 0 ? busy : tooMany;
      const second = await inTurn(async () => {
        await nextTurn(); // many may have waited for one answer, and other requests must be read meanwhile
        return review(body, policy, (query) => found.get(queryKey(query)) ?? known(query, secrets, refusal));
      });
      if (!("body" in second)) throw new Error("a decision that waits twice");
      return { ...second, waitedFor: new Set(wanted.map(queryKey)) };
    },
  };
}

/** Adds why Secrets are not used to failures that one of them might have prevented. */
function withUnused(lookup: Lookup, { unused }: PullCredentials): Lookup {
  return withReason(lookup, ["unauthorized", "not-found", "rate-limited"], ...unused);
}

/** Puts reasons before that of a failure, if it is one of these. */
function withReason(lookup: Lookup, of: readonly LookupFailure[], ...reasons: readonly string[]): Lookup {
  if (lookup.kind === "found" || !of.includes(lookup.failure)) return lookup;
  return unknownImage(lookup.failure, [...reasons, lookup.reason].join("; "));
}

function slowSecrets(readMs: number): string {
  return `the API server took ${formatDuration(readMs)} to give the pod's Secrets`;
}

/** Resolves once the event loop has looked at sockets and timers. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What is known of an image if the requests that wait take all memory that is meant for them. */
const busy = unknownImage("timeout", "too many pods wait for registries: create the pod again");

/** The most images that are looked up for a pod. */
const MOST_IMAGES = 50;
const tooMany = unknownImage("timeout", `ebb looks up at most ${MOST_IMAGES} images of a pod`);
