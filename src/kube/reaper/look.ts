import { ApiError, isApiFailure, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import { type PodRef, pathOf } from "./act/acting.ts";

/** What reading a pod came to. */
export type Found =
  /** Undefined: there is no pod of that name. */
  | { readonly kind: "pod"; readonly pod: KubeObject | undefined }
  | { readonly kind: "failed"; readonly why: string }
  /** The permission is missing, or was granted just now: the API server learns of it a moment later. */
  | { readonly kind: "forbidden"; readonly reason: string };

/**
 * Reads the pod of this name from the API server, once; its UID is not compared. Resolves with the pod, undefined if
 * there is none, or with why it cannot be read. Rejects with the signal's reason, or on a bug.
 */
export async function readPod(pod: PodRef, api: ApiClient, signal: AbortSignal): Promise<Found> {
  try {
    return { kind: "pod", pod: await api.get(pathOf(pod), { signal, retries: 0 }) };
  } catch (error) {
    if (signal.aborted || !isApiFailure(error)) throw error;
    if (isNotFound(error)) return { kind: "pod", pod: undefined };
    const isForbidden = error instanceof ApiError && error.status === 403;
    return isForbidden ? { kind: "forbidden", reason: error.message } : { kind: "failed", why: error.message };
  }
}

/** Calls `seen` with a pod's newest state, undefined when it is gone, until the function that it returns is called. */
export type FollowPod = (uid: string, seen: (pod: KubeObject | undefined) => void) => () => void;

const LOOK_EVERY_MS = 2000;

/**
 * Creates a FollowPod for a pod that nothing watches: it reads the pod every 2 s (LOOK_EVERY_MS), and calls `seen` with
 * it each time. A failure to read it counts as no change.
 */
export function followByPolling(pod: PodRef, api: ApiClient): FollowPod {
  return (_, seen) => {
    const stop = new AbortController();
    const go = async (): Promise<void> => {
      for (;;) {
        await pause(LOOK_EVERY_MS, stop.signal);
        if (stop.signal.aborted) return;
        const found = await readPod(pod, api, stop.signal).catch(() => undefined);
        if (found?.kind === "pod" && !stop.signal.aborted) seen(found.pod);
      }
    };
    void go();
    return () => stop.abort();
  };
}
