import type { Result } from "../../../core/reap/attempt-steps.ts";
import type { Log } from "../../../system/output/log.ts";
import type { ApiClient } from "../../api/client.ts";

export interface ActSettings {
  readonly api: ApiClient;
  /** Over when the next stream may be opened. Asked before the last look at a pod, so that nothing waits between that and the act. */
  readonly gate: (signal: AbortSignal) => Promise<void>;
  /** Of ephemeral containers. */
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  /** Milliseconds after which a look tells nothing of which pod has the name now. */
  readonly freshMs?: number | undefined;
  /** After a 403: may it be that a right is missing? */
  readonly denied?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly log: Log;
}

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Acting {
  readonly pod: PodRef;
  /** Why nothing must be done to the pod, as it is at this moment. */
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
