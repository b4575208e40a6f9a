import { passing } from "./failure.ts";
import type { Lookup } from "./lookup.ts";
import { createLru } from "./lru.ts";

/** How long it counts which digest a tag has, before the registry is asked again. */
const TAG_MS = 5 * 60_000;
/** How long it counts if the registry cannot be asked. */
const STALE_MS = 24 * 3_600_000;
const FAILURE_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** Of all images together: of ten thousand that have a few words, or of some dozens that have as many as may be. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_TAGS = 4000;
const MOST_FAILURES = 1000;

/** The keys of an image. Each has a hash of the pod's credentials, so that no pod reads what another pod's Secret opened. */
export interface Keys {
  /** Of the name, if that is a tag; undefined if it is a digest. */
  readonly tag: string | undefined;
  /** Of the digest in the name; undefined if that is a tag. */
  readonly digest: string | undefined;
  /** Of the name and the processors. */
  readonly query: string;
  /** Of a digest and the processors. */
  readonly answer: (digest: string) => string;
}

/** What is remembered of images. Times are in milliseconds, of any clock that only goes on. */
export interface Memory {
  /** Returns what still counts. `refusal` is why the registry cannot be asked now; undefined if it can. */
  remembered(keys: Keys, now: number, refusal?: Lookup): Lookup | undefined;
  /** Returns what is known of a digest, however long ago. */
  ofDigest(keys: Keys, digest: string): Lookup | undefined;
  /** Reports whether the digest of a tag was known once. */
  hasTag(keys: Keys): boolean;
  /** Keeps what a registry has said. */
  keep(keys: Keys, found: { readonly digest: string; readonly answer: Lookup }, now: number): void;
  /** Keeps that a registry was asked in vain; `retryAfterMs` is a 429's Retry-After. */
  fail(keys: Keys, failure: Lookup, now: number, retryAfterMs?: number): void;
}

/**
 * Creates an empty memory. By digest an answer counts until others need the room, by tag for 5 minutes, and for a day
 * if the registry cannot be asked again. Failures count for 30 s; a 429 as long as it says, for at most 5 minutes.
 */
export function createMemory(): Memory {
  const answers = createLru<Lookup>(MOST_BYTES, bytesOf);
  const tags = createLru<{ readonly digest: string; readonly at: number }>(MOST_TAGS);
  const failures = createLru<{ readonly failure: Lookup; readonly until: number }>(MOST_FAILURES);
  const ofDigest = (keys: Keys, digest: string) => answers.get(keys.answer(digest));
  return {
    ofDigest,
    remembered(keys, now, refusal) {
      const tag = keys.tag === undefined ? undefined : tags.get(keys.tag);
      const digest = keys.digest ?? tag?.digest;
      const answer = digest === undefined ? undefined : ofDigest(keys, digest);
      const age = tag === undefined ? 0 : now - tag.at;
      if (answer !== undefined && age < TAG_MS) return answer;
      const failed = failures.get(keys.query);
      const failure = failed !== undefined && now < failed.until ? failed.failure : refusal;
      return failure === undefined ? undefined : staleOr(failure, answer, age);
    },
    hasTag: ({ tag }) => tag !== undefined && tags.get(tag) !== undefined,
    keep(keys, { digest, answer }, now) {
      if (keys.tag !== undefined) tags.set(keys.tag, { digest, at: now });
      answers.set(keys.answer(digest), answer);
      failures.delete(keys.query);
    },
    fail(keys, failure, now, retryAfterMs = FAILURE_MS) {
      failures.set(keys.query, { failure, until: now + Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) });
    },
  };
}

/** Returns about how much memory an answer takes with its key: a short word takes 50 bytes and more (measured). */
function bytesOf(lookup: Lookup): number {
  const words = lookup.kind === "found" ? [...lookup.command.entrypoint, ...lookup.command.cmd] : [lookup.reason];
  return words.reduce((sum, word) => sum + 64 + 2 * word.length, 1024);
}

/** Returns what was known before a failure that may pass, if it is not too old; otherwise the failure. */
function staleOr(failure: Lookup, answer: Lookup | undefined, ageMs: number): Lookup {
  const mayPass = failure.kind === "unknown" && passing.includes(failure.failure);
  return answer !== undefined && mayPass && ageMs < STALE_MS ? answer : failure;
}
