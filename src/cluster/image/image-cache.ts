import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { MiB } from "../../shared/io/input.ts";
import type { RegistryAuths } from "./core/auths.ts";
import { LookupError, lookupError, passing } from "./core/failure.ts";
import type { ImageQuery, Lookup } from "./core/lookup.ts";
import { commandOf, unknown } from "./core/platform.ts";
import { formatReference, type Reference, registryName } from "./core/reference.ts";
import type { RegistrySettings } from "./core/registry-options.ts";
import { type Candidate, createImageReader, type ImageContext, type ImageReader } from "./reader.ts";
import { readDigest, readImage, unlessOdd } from "./registry.ts";

/** What registries say of images, remembered. */
export interface ImageCache {
  /**
   * Returns what is remembered, without waiting; undefined if a registry has to be asked. If none can be asked now,
   * `refusal` says why: it is the answer unless an older one is remembered.
   */
  remembered(query: ImageQuery, auths: readonly RegistryAuths[], refusal?: Lookup): Lookup | undefined;
  /** Looks an image up, for at most `limitMs`. Never rejects. */
  find(query: ImageQuery, auths: readonly RegistryAuths[], limitMs: number): Promise<Lookup>;
}

/** How long it counts which digest a tag has, before the registry is asked again. */
const TAG_MS = 5 * 60_000;
/** How long it counts if the registry cannot be asked. */
const STALE_MS = 24 * 3_600_000;
const FAILURE_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;
/** Of some six thousand images that have a few words, or of some dozens that have as many as may be. */
const MOST_BYTES = 16 * MiB;
const MOST_FAILURES = 1000;
/** The most look-ups of a registry that are waited for; others are refused, so that a slow one holds up itself alone. */
const MOST_OF_REGISTRY = 100;
/** A registry that had less time than this has not failed. */
const SHORTEST_MS = 500;

/** What was found, and the digest that the name then meant. */
interface Known {
  readonly digest: string;
  readonly answer: Lookup;
}

/** What is looked up: a query, and where it may be answered. */
interface Target {
  readonly query: ImageQuery;
  readonly reference: Reference;
  readonly candidates: readonly Candidate[];
  /** Of its name, or of a digest. Has a hash of the pod's credentials: no pod reads what another pod's Secret opened. */
  readonly keyOf: (digest?: string) => string;
}

/** A target, and how long its registries may take. */
interface Asking {
  readonly target: Target;
  readonly limitMs: number;
}

/**
 * Creates an empty cache. An image that is being looked up is not asked for twice. By digest an answer counts until
 * others need the room, by tag for 5 minutes, and for a day if the registry cannot be asked again. Failures count for
 * 30 s; a 429 as long as it says, for at most 5 minutes. `now`: milliseconds of any clock, more than 0.
 * @throws Failure(64) if a file of --ca-file or --registry-config cannot be read
 */
export function createImageCache(
  settings: RegistrySettings,
  context: ImageContext,
  now = () => performance.now(),
): ImageCache {
  const reader = createImageReader(settings, context);
  const clock = { perf: { now }, ttlResolution: 0 };
  const failures = new LRUCache<string, Lookup>({ ...clock, max: MOST_FAILURES });
  const images = new LRUCache<string, Known, Asking>({
    ...clock,
    ttl: TAG_MS,
    maxSize: MOST_BYTES,
    sizeCalculation: ({ answer }) => bytesOf(answer),
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    ignoreFetchAbort: true, // what has no room is still the answer for who waits
    async fetchMethod(key, old, { options, context: { target, limitMs } }) {
      const { keyOf, reference } = target;
      const known = (digest: string) => (digest === old?.digest ? old : images.get(keyOf(digest)));
      try {
        const found = await readIfMoved(reader, { target, limitMs }, old && known);
        if (reference.digest === undefined) images.set(keyOf(found.digest), found, { ttl: 0 });
        else options.ttl = 0; // without end: a digest never means another image
        return found;
      } catch (error) {
        const { failure, retryAfterMs = FAILURE_MS } = toLookupError(error);
        const ttl = failure === "timeout" && limitMs < SHORTEST_MS ? 0 : Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
        if (ttl > 0) failures.set(key, failedBy(error), { ttl });
        throw error;
      }
    },
  });
  /** A failure that may pass gives way to what was known before. */
  const staleOr = (failure: Lookup, key: string): Lookup => {
    const mayPass = failure.kind === "unknown" && passing.includes(failure.failure);
    if (!mayPass || images.getRemainingTTL(key) < TAG_MS - STALE_MS) return failure;
    return images.get(key, { allowStale: true })?.answer ?? failure;
  };
  const remembered = (key: string, refusal?: Lookup): Lookup | undefined => {
    const failure = failures.get(key) ?? refusal;
    return images.get(key)?.answer ?? (failure && staleOr(failure, key));
  };
  const waiting = new Map<string, number>();
  return {
    remembered(query, auths, refusal) {
      const target = targetOf(reader, query, auths);
      return "kind" in target ? target : remembered(target.keyOf(), refusal);
    },
    async find(query, auths, limitMs) {
      const target = targetOf(reader, query, auths);
      if ("kind" in target) return target;
      const key = target.keyOf();
      const host = registryName(target.reference.host);
      const before = waiting.get(host) ?? 0;
      const already = remembered(key, before < MOST_OF_REGISTRY ? undefined : tooMany(host));
      if (already !== undefined) return already;
      waiting.set(host, before + 1);
      try {
        return (await images.forceFetch(key, { context: { target, limitMs } })).answer;
      } catch (error) {
        return staleOr(failedBy(error), key);
      } finally {
        waiting.set(host, (waiting.get(host) ?? 1) - 1);
      }
    },
  };
}

function tooMany(host: string): Lookup {
  return unknown("timeout", `${MOST_OF_REGISTRY} look-ups wait for ${host}: create the pod again when it answers`);
}

function targetOf(reader: ImageReader, query: ImageQuery, auths: readonly RegistryAuths[]): Target | Lookup {
  try {
    const { reference, candidates } = reader.candidatesFor(query.image, auths);
    const used = candidates.flatMap(({ auths: each }) => each);
    const who = used.length === 0 ? "" : createHash("sha256").update(JSON.stringify(used)).digest("base64");
    const keyOf = (digest = reference.digest) =>
      `${formatReference({ ...reference, digest })} ${query.architectures.join()} ${who}`;
    return { query, reference, candidates, keyOf };
  } catch (error) {
    return failedBy(error);
  }
}

/** Asks for an image. If it was known, asks whether its tag has moved, and if it has, what it is now unless that is `known`. */
function readIfMoved(
  reader: ImageReader,
  { target: { query, reference, candidates }, limitMs }: Asking,
  known?: (digest: string) => Known | undefined,
): Promise<Known> {
  return reader.ask(
    candidates,
    async (session) => {
      if (known !== undefined) {
        const digest = await readDigest(session, reference).catch(unlessOdd); // not all know HEAD
        const same = digest === undefined ? undefined : known(digest);
        if (same !== undefined) return same;
      }
      const report = await readImage(session, reference, query.architectures);
      return { digest: report.digest, answer: commandOf(query, report) };
    },
    { limitMs },
  );
}

/** Returns about how much memory an answer takes with its key: a short word takes 50 bytes and more (measured). */
function bytesOf(lookup: Lookup): number {
  const words = lookup.kind === "found" ? [...lookup.command.entrypoint, ...lookup.command.cmd] : [lookup.reason];
  return words.reduce((sum, word) => sum + 64 + 2 * word.length, 1024);
}

function toLookupError(error: unknown): LookupError {
  return error instanceof LookupError ? error : lookupError("invalid", (error as Error).message);
}

function failedBy(error: unknown): Lookup {
  const { failure, message } = toLookupError(error);
  return unknown(failure, message);
}
