import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { formatDuration, parseDuration } from "../../shared/core/duration.ts";
import type { Log } from "../../shared/output/log.ts";
import type { ImageCache } from "../image/image-cache.ts";
import type { InjectPolicy } from "../inject/core/policy.ts";
import { requestRoomBytes } from "./core/webhook-limits.ts";
import { MUTATE_NAMESPACE_PATH, MUTATE_PATH } from "./core/webhook-paths.ts";
import type { BrokenStatus, HttpsHandlers } from "./https.ts";
import type { Metrics } from "./metrics.ts";
import type { Credentials } from "./pod-images.ts";
import { createReceiver } from "./receive.ts";
import { createRefusalLogger, logDecision } from "./request-log.ts";
import { createReviewer } from "./reviewer.ts";

/** How requests are answered, and how many. */
interface EndpointSettings {
  readonly policy: InjectPolicy;
  readonly images: ImageCache;
  readonly credentials: Credentials;
  /** The largest body. A larger one is answered 413. */
  readonly maxRequestBytes: number;
  /** The most requests under way, without those that wait for registries. Others are answered 429. */
  readonly maxRequestsInFlight: number;
  /** The limit that the log names for requests that did not arrive in time. */
  readonly requestMs: number;
}

/** The webhook's HTTP handlers. */
export interface Endpoint {
  /** How many requests are in progress. */
  readonly inFlight: number;
  readonly onRequest: RequestListener;
  readonly onBroken: HttpsHandlers["onBroken"];
  /** Makes each answer end its connection from now on, so that its client goes on at another replica. */
  leave(): void;
}

/** An HTTP status other than 200: the API server then does what the webhook's failurePolicy says, and logs the text. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Creates the webhook's HTTP handler, which answers admission requests (POST at two paths). Each decision and refusal
 * is logged and counted. Requests that are too many, or that together take more memory than there is for them, are
 * answered 429.
 */
export function createEndpoint(settings: EndpointSettings, log: Log, metrics: Metrics): Endpoint {
  const refused = createRefusalLogger(log);
  const { maxRequestBytes: mostBytes, maxRequestsInFlight: most } = settings;
  const receive = createReceiver({ mostBytes, roomBytes: requestRoomBytes(mostBytes) });
  const reviewer = createReviewer({ ...settings, mostWaitingBytes: mostBytes });
  let inFlight = 0;
  let isLeaving = false;
  const answer = (response: ServerResponse, status: number, body: string, headers: Refusal["headers"]): void => {
    if (response.headersSent || response.destroyed) return;
    metrics.answered(status);
    const length = Buffer.byteLength(body);
    response.writeHead(status, { ...headers, "content-length": length, ...(isLeaving ? { connection: "close" } : {}) });
    response.end(body);
  };
  const refuse = (response: ServerResponse, { status, message, headers }: Refusal): void =>
    answer(response, status, `${message}\n`, { "content-type": "text/plain; charset=utf-8", ...headers });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const start = performance.now();
    const policy = policyFor(request, settings.policy);
    if (inFlight - reviewer.waiting > most) throw busy(`${most} requests are in progress`);
    const received = await receive(request);
    if (received === "gone") return;
    if (typeof received === "string") throw unread(received, mostBytes);
    const decided = await reviewer.decide(received.body, policy, start + waitMsOf(request)).finally(received.release);
    if ("problem" in decided) throw new Refusal(400, `expected an AdmissionReview: ${decided.problem}`);
    answer(response, 200, decided.body, { "content-type": "application/json" });
    const ms = performance.now() - start;
    metrics.decided(decided, ms / 1000);
    logDecision(log, decided, ms);
  };
  const explain = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    const from = request.socket.remoteAddress;
    if (error instanceof Refusal) {
      refused({ from, status: error.status, reason: error.message });
      return refuse(response, error);
    }
    refuse(response, bug(error as Error, from, log));
  };
  return {
    get inFlight() {
      return inFlight;
    },
    onRequest(request, response) {
      inFlight += 1;
      handle(request, response)
        .catch((error: unknown) => explain(error, request, response))
        .finally(() => {
          inFlight -= 1;
          request.resume(); // an unread body holds up the next request
        });
    },
    onBroken(status, from, response) {
      const reason = brokenBecause(status, settings);
      refused({ from, status, reason });
      if (response === undefined) metrics.answered(status);
      else refuse(response, new Refusal(status, reason, { connection: "close" }));
    },
    leave() {
      isLeaving = true;
    },
  };
}

/**
 * Returns the policy for a request's path: one of the two is for namespaces that have opted in with all their pods.
 * @throws Refusal if path, method or content type are wrong
 */
function policyFor({ url = "", method, headers }: IncomingMessage, policy: InjectPolicy): InjectPolicy {
  const [path] = url.split("?");
  if (path !== MUTATE_PATH && path !== MUTATE_NAMESPACE_PATH)
    throw new Refusal(404, `${path}: not found; this is POST ${MUTATE_PATH}`);
  if (method !== "POST") throw new Refusal(405, `expected POST, got ${method}`, { allow: "POST" });
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json") {
    throw new Refusal(415, `expected content-type application/json, got "${type}"`);
  }
  return path === MUTATE_NAMESPACE_PATH ? { ...policy, all: true } : policy;
}

/** The API server's limit if it names none (admissionregistration.k8s.io/v1, timeoutSeconds). */
const DEFAULT_TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 30_000;

/**
 * Returns how long registries are waited for: a third of the limit that the API server names (`?timeout=10s`), so that
 * it gets an answer also from a busy webhook.
 */
function waitMsOf({ url = "" }: IncomingMessage): number {
  const given = parseDuration(new URLSearchParams(url.split("?")[1]).get("timeout") ?? "");
  return Math.min(given ?? DEFAULT_TIMEOUT_MS, LONGEST_TIMEOUT_MS) / 3;
}

/**
 * Returns a 429. client-go asks again after Retry-After (rest/with_retry.go), within the webhook's timeout, so the pod
 * is changed all the same.
 */
function busy(why: string): Refusal {
  return new Refusal(429, `too many requests: ${why}`, { "retry-after": "1" });
}

function bug({ message, stack }: Error, from: string | undefined, log: Log): Refusal {
  const fields = { what: "a request could not be answered", error: stack ?? message, from };
  log.error(fields, "a bug in ebb: please report it");
  return new Refusal(500, `a bug in ebb: ${message}`);
}

function unread(why: "too large" | "no room", mostBytes: number): Refusal {
  if (why === "no room") return busy("the requests in progress use all the memory that is reserved for them");
  return new Refusal(413, `expected at most ${mostBytes} bytes`);
}

function brokenBecause(status: BrokenStatus, { requestMs }: EndpointSettings): string {
  if (status === 408) return `the request did not arrive within ${formatDuration(requestMs)}`;
  return status === 431 ? "the request's head is too big" : "this is not HTTP/1.1";
}
