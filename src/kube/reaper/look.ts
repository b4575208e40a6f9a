import { ApiError, isApiFailure, isNotFound } from "../api/api-error.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import { pause } from "../controller/pause.ts";
import { type PodRef, pathOf } from "./act/acting.ts";

export type Found =
  /** Undefined: none has the name. */
  | { readonly kind: "pod"; readonly pod: KubeObject | undefined }
  | { readonly kind: "failed"; readonly why: string }
  /** Somebody has to allow it, or has just done so: the API server learns of it a moment later. */
  | { readonly kind: "forbidden"; readonly reason: string };

/**
 * Reads a pod from the API server. Resolves to the pod (undefined: it is gone), or to why it cannot be read. @throws the signal's
 * reason where it is aborted
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

/** Calls with a pod whenever it changes, with undefined when it is gone, until what it returns is called. */
export type FollowPod = (uid: string, seen: (pod: KubeObject | undefined) => void) => () => void;

const LOOK_EVERY_MS = 2000;

/** Creates a `FollowPod` that reads the pod again and again, for where nothing is watched. A failure counts as no change. */
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
