import { createHash } from "node:crypto";
import { formatDuration } from "../../core/base/duration.ts";
import type { RegistrySettings } from "../../core/cli/cluster/registry-options.ts";
import type { RegistryAuths } from "../../core/image/auths.ts";
import { LookupError, lookupError } from "../../core/image/failure.ts";
import type { ImageQuery, Lookup } from "../../core/image/lookup.ts";
import { createMemory, type Keys, type Memory } from "../../core/image/memory.ts";
import { commandOf, unknown } from "../../core/image/platform.ts";
import { formatReference, type Reference } from "../../core/image/reference.ts";
import { deadline } from "../../system/timer.ts";
import { createLimit, type Limit } from "./limit.ts";
import { type Clock, createOutages, type OutageMemory } from "./outages.ts";
import {
  type Asking,
  createReader,
  type ImageContext,
  LOOKUP_MS,
  outageOf,
  type Place,
  type Reader,
} from "./reader.ts";
import { readDigest, readImage, type Session, unlessOdd } from "./registry.ts";

/** What registries say of images, remembered. */
export interface Images {
  /** Returns what is remembered, without waiting; undefined if a registry has to be asked. */
  known(query: ImageQuery, auths: readonly RegistryAuths[]): Lookup | undefined;
  /**
   * Looks an image up, and waits for at most `waitMs`; undefined: for as long as look-ups take. The registry may answer
   * later, for the next one who asks. Never rejects.
   */
  find(query: ImageQuery, auths: readonly RegistryAuths[], waitMs?: number): Promise<Lookup>;
}

/** Look-ups at one registry at the same time. */
const MOST_AT_ONCE = 8;
/** Look-ups for pods, those included that wait for others: pods of hundreds of images must not cost memory. */
const MOST_FOR_PODS = 200;

const realClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => void setTimeout(call, ms).unref(),
};

/** A look-up that is wanted. */
interface Wanted {
  readonly query: ImageQuery;
  readonly reference: Reference;
  readonly places: readonly Place[];
  readonly keys: Keys;
}

/** A look-up under way. */
interface Pending {
  readonly answer: Promise<Lookup>;
  readonly asking: Asking;
  /** Its session with the registry that is being asked now. */
  readonly session: () => Session | undefined;
}

/**
 * Creates a memory of what registries say of images (core/image/memory.ts). A registry that does not answer is asked
 * again in the background only (outages.ts), so that just the first pod waits for it.
 * @throws Failure(64) if a file of --registry-ca or --registry-config cannot be read
 */
export function createImages(settings: RegistrySettings, context: ImageContext, clock: Clock = realClock): Images {
  return new RememberedImages(createReader(settings, context), clock, context);
}

class RememberedImages implements Images {
  readonly #reader: Reader;
  readonly #clock: Clock;
  readonly #outages: OutageMemory;
  readonly #memory: Memory = createMemory();
  readonly #pending = new Map<string, Pending>();
  /** By registry, so that a slow one does not hold up the others. */
  readonly #limits = new Map<string, Limit>();
  readonly #isAtDesk: boolean;
  readonly #lookupMs: number;

  constructor(reader: Reader, clock: Clock, { isAtDesk, lookupMs = LOOKUP_MS }: ImageContext) {
    this.#reader = reader;
    this.#clock = clock;
    this.#isAtDesk = isAtDesk;
    this.#lookupMs = lookupMs;
    this.#outages = createOutages(clock);
  }

  known(query: ImageQuery, auths: readonly RegistryAuths[]): Lookup | undefined {
    const wanted = this.#want(query, auths);
    return "kind" in wanted ? wanted : this.#remembered(wanted);
  }

  async find(query: ImageQuery, auths: readonly RegistryAuths[], waitMs?: number): Promise<Lookup> {
    const wanted = this.#want(query, auths);
    if ("kind" in wanted) return wanted;
    const already = this.#remembered(wanted);
    if (already !== undefined) return already;
    if (!this.#isAtDesk && this.#pending.size >= MOST_FOR_PODS && !this.#pending.has(wanted.keys.query))
      return unknown("timeout", `${MOST_FOR_PODS} images are being looked up: try again in a minute`);
    const pending = this.#start(wanted, false);
    if (waitMs === undefined) return await pending.answer;
    const { promise: late, resolve } = Promise.withResolvers<Lookup>();
    const cancel = deadline(waitMs, () => resolve(this.#late(wanted, pending, waitMs)));
    return await Promise.race([pending.answer, late]).finally(cancel);
  }

  #want(query: ImageQuery, auths: readonly RegistryAuths[]): Wanted | Lookup {
    try {
      const { reference, places } = this.#reader.placesOf(query.image, auths);
      return { query, reference, places, keys: keysOf(query, reference, places) };
    } catch (error) {
      const { failure, message } = toLookupError(error);
      return unknown(failure, message);
    }
  }

  #remembered({ keys, places }: Wanted): Lookup | undefined {
    const outage = outageOf(places, this.#outages);
    return this.#memory.known(keys, this.#clock.now(), outage && unknown(outage.failure, outage.message));
  }

  /** Starts a look-up, unless it is under way. `isProbe`: it also asks registries that did not answer before. */
  #start(wanted: Wanted, isProbe: boolean): Pending {
    const key = `${isProbe ? "probe " : ""}${wanted.keys.query}`; // no look-up that skips a registry is a probe of it
    const under = this.#pending.get(key);
    if (under !== undefined) return under;
    let session: Session | undefined;
    const asking: Asking = {
      signal: this.#limit(), // for a pod the wait for other look-ups counts
      outages: this.#outages.forLookup(() => void this.#start(wanted, true), isProbe),
      onSession: (next) => {
        session = next;
      },
    };
    const answer = this.#lookUp(wanted, asking).finally(() => this.#pending.delete(key));
    const pending = { answer, asking, session: () => session };
    this.#pending.set(key, pending);
    return pending;
  }

  async #lookUp(wanted: Wanted, asking: Asking): Promise<Lookup> {
    try {
      const { host } = wanted.reference;
      const limit = this.#limits.get(host) ?? createLimit(MOST_AT_ONCE);
      this.#limits.set(host, limit);
      const said = await limit(() => this.#ask(wanted, this.#isAtDesk ? { ...asking, signal: this.#limit() } : asking));
      this.#memory.keep(wanted.keys, said, this.#clock.now());
      return said.answer;
    } catch (error) {
      const { failure, message, retryAfterMs } = toLookupError(error);
      this.#memory.fail(wanted.keys, unknown(failure, message), this.#clock.now(), retryAfterMs);
      return this.#remembered(wanted) ?? unknown(failure, message);
    }
  }

  /** Asks whether a tag that was known has moved, and if it has, or was not known, what it is now. */
  async #ask({ query, reference, places, keys }: Wanted, asking: Asking) {
    if (this.#memory.hasTag(keys)) {
      const digest = await this.#reader
        .ask(places, (session) => readDigest(session, reference), asking)
        .catch(unlessOdd); // not all know HEAD
      const answer = digest === undefined ? undefined : this.#memory.ofDigest(keys, digest);
      if (digest !== undefined && answer !== undefined) return { digest, answer };
    }
    const { architectures } = query;
    const report = await this.#reader.ask(places, (session) => readImage(session, reference, architectures), asking);
    return { digest: report.digest, answer: commandOf(query, report) };
  }

  #limit(): AbortSignal {
    return AbortSignal.timeout(this.#lookupMs);
  }

  /** Answers in the place of a registry that takes too long. It counts until the registry has answered. */
  #late(wanted: Wanted, pending: Pending, waitMs: number): Lookup {
    const session = pending.session();
    const host = session?.source.host ?? wanted.reference.host;
    const within = `within ${formatDuration(waitMs)}`;
    const others = `${host} was not asked ${within}, because others were slow`;
    const error = lookupError("timeout", session === undefined ? others : `${host} did not answer ${within}`);
    if (session?.isUnanswered) pending.asking.outages?.begin(session.source.origin, error);
    this.#memory.fail(wanted.keys, unknown(error.failure, error.message), this.#clock.now());
    return this.#remembered(wanted) ?? unknown(error.failure, error.message);
  }
}

function keysOf({ architectures }: ImageQuery, reference: Reference, places: readonly Place[]): Keys {
  const used = places.flatMap(({ auths }) => auths);
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
