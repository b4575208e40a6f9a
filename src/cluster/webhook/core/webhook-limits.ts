const MIB = 1024 * 1024;

/** Limits of the webhook. Nobody tunes them; tests take others. */
export interface WebhookLimits {
  /** Milliseconds for each TLS handshake, for each request to arrive, and for each answer to be taken. */
  readonly requestMs: number;
  readonly maxRequestBytes: number;
  /** Above it, the API server is told to retry in a second. */
  readonly maxRequestsInFlight: number;
}

/**
 * The memory limit in webhook.yaml, 288 MiB, follows from the size limit (`npm run bench -- webhook` measures what is
 * needed): 80 MiB for 1,000 connections without requests, 4 requests that arrive, 10 times the size of the one that is
 * handled, and 48 MiB for look-ups; a quarter more for garbage that is not collected yet.
 */
export const webhookLimits: WebhookLimits = {
  requestMs: 5000, // the API server sends a pod at once, and waits 10 s for the answer (timeoutSeconds of the registration)
  maxRequestBytes: 7 * MIB, // two objects of at most 3 MB each and the rest: as controller-runtime's pkg/webhook/admission/http.go
  maxRequestsInFlight: 100, // of 4 to 7 ms of CPU each: the last one waits for less than a second
};

/** Returns how many bytes of request bodies the webhook holds at a time: 4 of the biggest. */
export function requestRoomBytes(maxRequestBytes: number): number {
  return 4 * maxRequestBytes;
}
