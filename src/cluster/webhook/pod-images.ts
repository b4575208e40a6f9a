import { formatDuration } from "../../shared/core/duration.ts";
import type { RegistryAuths } from "../image/core/auths.ts";
import { type ImageQuery, type Lookup, type LookupFailure, queryKey } from "../image/core/lookup.ts";
import { unknown } from "../image/core/platform.ts";
import type { ImageCache } from "../image/image-cache.ts";
import type { MissingImages, PullSecrets } from "./admission.ts";

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
  remembered(secrets: PullSecrets): PullCredentials | undefined;
  /** Resolves with them after at most `waitMs`. Never rejects. */
  read(secrets: PullSecrets, waitMs: number): Promise<PullCredentials>;
}

const none: PullCredentials = { auths: [], unused: [], isLate: false };
/** No credentials, without --pull-secrets. */
export const noCredentials: Credentials = { remembered: () => none, read: async () => none };

/** What is behind the images of pods, each with the credentials that its Secrets give. */
interface Sources {
  readonly images: ImageCache;
  readonly credentials: Credentials;
}

/**
 * Returns what is remembered of an image for a pod with these Secrets, without waiting; undefined if a Secret has to be
 * read, or a registry asked. If that cannot be now, `refusal` says why.
 */
export function rememberedImage(
  { images, credentials }: Sources,
  query: ImageQuery,
  secrets: PullSecrets,
  refusal?: Lookup,
): Lookup | undefined {
  const anonymous = images.remembered(query, []);
  if (anonymous?.kind === "unknown" && anonymous.failure === "not-allowed") return anonymous; // no Secret is read
  const pulled = credentials.remembered(secrets);
  if (pulled === undefined) return refusal;
  const lookup = images.remembered(query, pulled.auths, refusal);
  return lookup && withUnused(lookup, pulled);
}

/** Looks the images of a pod up until `deadlineMs` (by performance.now()). Resolves with all, by `queryKey`. Never rejects. */
export async function findImages(
  { images, credentials }: Sources,
  { queries, secrets }: MissingImages,
  deadlineMs: number,
): Promise<ReadonlyMap<string, Lookup>> {
  const start = performance.now();
  const pulled = await credentials.read(secrets, deadlineMs - start);
  const [readMs, limitMs] = [performance.now() - start, deadlineMs - performance.now()];
  const find = async (query: ImageQuery): Promise<Lookup> => {
    if (pulled.isLate) {
      const refusal = unknown("timeout", pulled.unused.join("; "));
      return images.remembered(query, pulled.auths, refusal) ?? refusal;
    }
    const lookup = withUnused(await images.find(query, pulled.auths, limitMs), pulled);
    return readMs > limitMs ? withReason(lookup, ["timeout"], slowSecrets(readMs)) : lookup;
  };
  return new Map(await Promise.all(queries.map(async (query) => [queryKey(query), await find(query)] as const)));
}

/** Adds why Secrets are not used to failures that one of them might have prevented. */
function withUnused(lookup: Lookup, { unused }: PullCredentials): Lookup {
  return withReason(lookup, ["unauthorized", "not-found", "rate-limited"], ...unused);
}

/** Puts reasons before that of a failure, if it is one of these. */
function withReason(lookup: Lookup, of: readonly LookupFailure[], ...reasons: readonly string[]): Lookup {
  if (lookup.kind === "found" || !of.includes(lookup.failure)) return lookup;
  return unknown(lookup.failure, [...reasons, lookup.reason].join("; "));
}

function slowSecrets(readMs: number): string {
  return `the API server took ${formatDuration(readMs)} to give the pod's Secrets`;
}
