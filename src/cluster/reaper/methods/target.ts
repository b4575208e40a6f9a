import { formatDuration } from "../../../shared/core/duration.ts";
import { leftUntil } from "../../../shared/io/timer.ts";
import type { Log } from "../../../shared/output/log.ts";
import { ApiError } from "../../api/api-error.ts";
import type { ApiClient } from "../../api/client.ts";
import type { Pod } from "../../api/core/objects.ts";
import type { Stream } from "../../api/stream.ts";
import type { EndResult } from "../core/attempt.ts";
import type { PodRef, PodView } from "../core/pod-view.ts";

/** What all methods need. */
export interface SendSettings {
  /** A client without a rate limit and without retries. */
  readonly api: ApiClient;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  readonly log: Log;
}

/** A pod as it was just read. */
export interface FreshPod {
  /** As the API server sent it. */
  readonly object: Pod;
  readonly pod: PodView;
  /** When the API server was asked for it, in milliseconds of the monotonic clock. */
  readonly askedAt: number;
}

/** The pod that a request is sent to, as a look has decided. */
export interface PodTarget extends FreshPod {
  readonly signal: AbortSignal;
}

/** A look that is older tells nothing of now: a new pod of the same name may run a container (measured: 0.56 s). */
const FRESH_MS = 500;

/** Reports whether a look tells nothing of now. */
export function isStale({ askedAt }: FreshPod): boolean {
  return performance.now() >= askedAt + FRESH_MS;
}

/**
 * Opens a stream to a pod that was just read. Its path names the pod, not a UID. So it rejects with ApiError (`Timeout`)
 * unless the stream is open 500 ms (FRESH_MS) after the API server was asked for the pod.
 */
export async function openPodStream(
  api: ApiClient,
  { askedAt, signal }: PodTarget,
  { path, protocol }: { readonly path: string; readonly protocol: string },
): Promise<Stream> {
  const timeoutMs = leftUntil(askedAt + FRESH_MS);
  return await api.stream(path, protocol, { signal, timeoutMs }).catch((error: unknown) => {
    if (!isLate(error)) throw error;
    const why = `the API server did not open it within ${formatDuration(FRESH_MS)} of the look at the pod`;
    throw new ApiError(why, error, { cause: error });
  });
}

/** Reports whether a request had no answer in its time. */
export function isLate(error: unknown): error is ApiError {
  return error instanceof ApiError && error.reason === "Timeout";
}

/** Returns the API path of a pod. */
export function pathOf({ namespace, name }: Omit<PodRef, "uid">): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Returns the result of a request that was refused. */
export function refusedBecause(why: string): EndResult {
  return { kind: "refused", why };
}
