import type { Result } from "../../../core/reap/reconcile.ts";
import type { Log } from "../../../system/output/log.ts";
import type { ApiError } from "../../api/api-error.ts";
import type { ApiClient, KubeObject } from "../../api/client.ts";

/** What all acts need. */
export interface ActSettings {
  readonly api: ApiClient;
  /**
   * Resolves when the next stream may be opened. Awaited before the last look at a pod, so that nothing waits between
   * that look and the act.
   */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  /**
   * How long an exec's last look at the pod may take: after a slower one another pod may have the name. Undefined: 500
   * ms.
   */
  readonly freshMs?: number | undefined;
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

/** The pod that is acted on. */
export interface Acting {
  readonly pod: PodRef;
  /** Returns why nothing may be done to the pod as it is at this moment; undefined if the act is still right. */
  readonly objection: (pod: unknown) => string | undefined;
  readonly signal: AbortSignal;
}

/** Returns the API path of a pod. */
export function pathOf({ namespace, name }: PodRef): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** Returns the result of an act that was not done, or that the sidecar refused. */
export function refusedBecause(why: string): Result {
  return { kind: "refused", why };
}
