import { createHash } from "node:crypto";
import type { RegistryAuths } from "./core/auths.ts";
import { LookupError, lookupError } from "./core/failure.ts";
import type { ImageQuery, Lookup } from "./core/lookup.ts";
import { createMemory, type Keys, type Memory } from "./core/memory.ts";
import { commandOf, unknown } from "./core/platform.ts";
import { formatReference, type Reference, registryName } from "./core/reference.ts";
import type { RegistrySettings } from "./core/registry-options.ts";
import { type Candidate, createReader, type ImageContext, type Reader } from "./reader.ts";
import { readDigest, readImage, unlessOdd } from "./registry.ts";

/** What registries say of images, remembered (cluster/image/core/memory.ts). */
export interface ImageCache {
  /**
   * Returns what is remembered, without waiting; undefined if a registry has to be asked. If none can be asked now,
   * `refusal` says why: it is the answer unless an older one is remembered.
   */
  remembered(query: ImageQuery, auths: readonly RegistryAuths[], refusal?: Lookup): Lookup | undefined;
  /** Looks an image up, for at most `limitMs`. Never rejects. */
  find(query: ImageQuery, auths: readonly RegistryAuths[], limitMs: number): Promise<Lookup>;
}

/** The most look-ups of a registry that are waited for; others are refused, so that a slow one holds up itself alone. */
const MOST_OF_REGISTRY = 100;
/** A registry that had less time than this has not failed. */
const SHORTEST_MS = 500;

/** What is looked up: a query, where it may be answered, and under which keys the answer is kept. */
interface Target {
  readonly query: ImageQuery;
  readonly reference: Reference;
  readonly candidates: readonly Candidate[];
  readonly keys: Keys;
}

/**
 * Creates an empty cache. An image that is being looked up is not asked for twice.
 * `now`: milliseconds of any clock.
 * @throws Failure(64) if a file of --ca-file or --registry-config cannot be read
 */
export function createImageCache(
  settings: RegistrySettings,
  context: ImageContext,
  now = () => performance.now(),
): ImageCache {
  const reader = createReader(settings, context);
  const memory = createMemory();
  const underWay = new Map<string, Promise<Lookup>>();
  const waiting = new Map<string, number>();
  const lookUp = async (target: Target, limitMs: number): Promise<Lookup> => {
    const { keys } = target;
    try {
      const found = await readIfMoved(reader, memory, target, limitMs);
      memory.keep(keys, found, now());
      return found.answer;
    } catch (error) {
      const { failure, message, retryAfterMs } = toLookupError(error);
      const failed = unknown(failure, message);
      if (failure !== "timeout" || limitMs >= SHORTEST_MS) memory.fail(keys, failed, now(), retryAfterMs);
      return memory.remembered(keys, now(), failed) ?? failed;
    }
  };
  return {
    remembered(query, auths, refusal) {
      const target = targetOf(reader, query, auths);
      return "kind" in target ? target : memory.remembered(target.keys, now(), refusal);
    },
    async find(query, auths, limitMs) {
      const target = targetOf(reader, query, auths);
      if ("kind" in target) return target;
      const host = registryName(target.reference.host);
      const before = waiting.get(host) ?? 0;
      const refusal = before < MOST_OF_REGISTRY ? undefined : tooMany(host);
      const already = memory.remembered(target.keys, now(), refusal);
      if (already !== undefined) return already;
      const key = target.keys.query;
      const answer = underWay.get(key) ?? lookUp(target, limitMs).finally(() => underWay.delete(key));
      underWay.set(key, answer);
      waiting.set(host, before + 1);
      return await answer.finally(() => waiting.set(host, (waiting.get(host) ?? 1) - 1));
    },
  };
}

function tooMany(host: string): Lookup {
  return unknown("timeout", `${MOST_OF_REGISTRY} look-ups wait for ${host}: create the pod again when it answers`);
}

function targetOf(reader: Reader, query: ImageQuery, auths: readonly RegistryAuths[]): Target | Lookup {
  try {
    const { reference, candidates } = reader.candidatesFor(query.image, auths);
    return { query, reference, candidates, keys: keysOf(query, reference, candidates) };
  } catch (error) {
    const { failure, message } = toLookupError(error);
    return unknown(failure, message);
  }
}

/** Asks whether a tag that was known has moved, and if it has, or was not known, what it is now. */
function readIfMoved(reader: Reader, memory: Memory, { query, reference, candidates, keys }: Target, limitMs: number) {
  return reader.ask(
    candidates,
    async (session) => {
      if (memory.hasTag(keys)) {
        const digest = await readDigest(session, reference).catch(unlessOdd); // not all know HEAD
        const answer = digest === undefined ? undefined : memory.ofDigest(keys, digest);
        if (digest !== undefined && answer !== undefined) return { digest, answer };
      }
      const report = await readImage(session, reference, query.architectures);
      return { digest: report.digest, answer: commandOf(query, report) };
    },
    { limitMs },
  );
}

function keysOf({ architectures }: ImageQuery, reference: Reference, candidates: readonly Candidate[]): Keys {
  const used = candidates.flatMap(({ auths }) => auths);
  const who = used.length === 0 ? "" : createHash("sha256").update(JSON.stringify(used)).digest("base64");
  const { host, repository, digest } = reference;
  const name = formatReference(reference);
  const processors = architectures.join();
  return {
    tag: digest === undefined ? `${name} ${who}` : undefined,
    digest,
    query: `${name} ${processors} ${who}`,
    answer: (of) => `${host}/${repository}@${of} ${processors} ${who}`,
  };
}

function toLookupError(error: unknown): LookupError {
  return error instanceof LookupError ? error : lookupError("invalid", (error as Error).message);
}
