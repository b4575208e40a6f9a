import type { Log } from "../../../shared/output/log.ts";
import type { ApiError } from "../../api/api-error.ts";
import type { ApiClient, KubeObject } from "../../api/client.ts";
import type { PodRef, PodView } from "../core/pod-view.ts";
import type { Result } from "../core/reconcile.ts";
import type { Turn } from "../throttle.ts";

/** What all methods need. */
export interface SendSettings {
  /** A client without a rate limit. */
  readonly api: ApiClient;
  /** Awaited before each request but the first, whose turn came before the look. */
  readonly turn: Turn;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  /** Takes each 403: a permission may be missing. */
  readonly denied?: ((error: ApiError) => void) | undefined;
  readonly log: Log;
}

/** A pod as it was just read. */
export interface FreshPod {
  /** As the API server sent it. */
  readonly object: KubeObject;
  readonly pod: PodView;
  /** When the API server was asked for it, in milliseconds of the monotonic clock. */
  readonly askedAt: number;
}

/** The pod that a request is sent to, as a look has decided. */
export interface PodTarget extends FreshPod {
  /** Reads the pod again, and resolves with it if the request is still what is right; with undefined if it is not. */
  readonly lookAgain: () => Promise<FreshPod | undefined>;
  readonly signal: AbortSignal;
}

/** A look that is older tells nothing of now: a new pod of the same name may run a container (measured: 0.56 s). */
export const FRESH_MS = 500;

/** Returns the API path of a pod. */
export function pathOf({ namespace, name }: Omit<PodRef, "uid">): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Returns the result of a request that was refused. */
export function refusedBecause(why: string): Result {
  return { kind: "refused", why };
}
