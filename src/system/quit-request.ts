import type { Header, HttpAnswer, HttpRequest } from "../core/http-message.ts";
import type { QuitRequest } from "../core/sidecars/sidecar.ts";
import { createHttpClient } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";

export interface QuitOptions {
  /** For each quit: until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: where nobody listens any more, they are gone, not late. */
  readonly wereReady: boolean;
}

/** What the attempts have come to. */
interface Attempts {
  answer?: HttpAnswer;
  /** Why the last one brought no answer. */
  failure?: RequestFailed | undefined;
  /** Since when one is under way. */
  since?: number | undefined;
}

const SHORT_MS = 100;

/**
 * The answer, or why there is none; undefined: the last attempt hung until time was up. A connection that fails, and a server
 * that says 5xx, is asked again until then.
 */
export async function sendQuit(
  quit: QuitRequest,
  { headers, wereReady }: QuitOptions,
  signal: AbortSignal,
): Promise<HttpAnswer | RequestFailed | undefined> {
  using client = createHttpClient();
  const request = { ...quit, headers: headersOf(quit, headers) };
  const seen: Attempts = {};
  const attempt = () => record(client.request(request, signal), seen);
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Unanswered)) return whenAborted(error, seen, signal);
  }
  try {
    const { default: pRetry } = await import("p-retry"); // few quits need it
    return await pRetry(attempt, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 10,
      maxTimeout: 250,
      factor: 1.5,
      randomize: false,
      signal,
      // nobody listens where somebody did: three tries are enough to be sure
      shouldRetry: ({ attemptNumber }) => !(wereReady && seen.failure?.kind === "refused") || attemptNumber < 2,
    });
  } catch (error) {
    return error instanceof Unanswered ? (seen.failure ?? seen.answer) : whenAborted(error, seen, signal);
  }
}

/** The user's, and the quit's own where the user has none of that name. */
function headersOf({ headers: own = [] }: QuitRequest, given: readonly Header[]): HttpRequest["headers"] {
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return [...given, ...own.filter(([name]) => !names.has(name.toLowerCase()))];
}

/** An attempt that another may better: p-retry repeats errors that it does not know. */
class Unanswered extends Error {}

async function record(answering: Promise<HttpAnswer>, seen: Attempts): Promise<HttpAnswer> {
  seen.since = performance.now();
  try {
    const answer = await answering;
    if (answer.status < 500) return answer;
    seen.answer = answer;
    seen.failure = undefined;
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    seen.failure = error;
  }
  seen.since = undefined;
  throw new Unanswered();
}

/** What is known when time is up: an attempt that had only just begun would have ended as the one before. */
function whenAborted(error: unknown, { answer, failure, since }: Attempts, signal: AbortSignal) {
  if (!signal.aborted) throw error;
  return answer ?? (since === undefined || performance.now() - since < SHORT_MS ? failure : undefined);
}
