import type { Log } from "../../../shared/output/log.ts";
import type { ApiError } from "../../api/api-error.ts";
import type { ApiClient, KubeObject } from "../../api/client.ts";
import type { Result } from "../core/reconcile.ts";
import type { Turn } from "../throttle.ts";

/** What all methods need. */
export interface SendSettings {
  /** A client without a rate limit. */
  readonly api: ApiClient;
  /** Awaited before each request. */
  readonly turn: Turn;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  /** Takes each 403: a permission may be missing. */
  readonly denied?: ((error: ApiError) => void) | undefined;
  readonly log: Log;
}

/** A pod. Another one may take its name, but not its UID. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns a pod's UID, namespace and name. */
export function podRefOf({ metadata }: KubeObject): PodRef {
  return { uid: String(metadata.uid), namespace: metadata.namespace ?? "", name: metadata.name };
}

/** The pod that a request is sent to. */
export interface PodTarget {
  readonly pod: PodRef;
  /** Reads the pod, and resolves with it if the request is still what is right; with undefined if it is not to be sent. */
  readonly confirm: () => Promise<FreshPod | undefined>;
  readonly signal: AbortSignal;
}

/** A pod as it was just read. */
export interface FreshPod {
  readonly object: KubeObject;
  /** When the API server was asked for it, in milliseconds of the monotonic clock. */
  readonly askedAt: number;
}

/** Returns the API path of a pod. */
export function pathOf({ namespace, name }: PodRef): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Returns the result of a request that was refused. */
export function refusedBecause(why: string): Result {
  return { kind: "refused", why };
}
