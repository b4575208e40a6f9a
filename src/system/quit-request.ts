import type { HttpTarget } from "../core/address.ts";
import type { Header, HttpAnswer, HttpRequest } from "../core/http-message.ts";
import type { QuitRequest } from "../core/sidecars/sidecar.ts";
import { askDirectly } from "./ask-at-once.ts";
import { createHttpClient } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";

/** Asks once. @throws RequestFailed; the signal's reason when it is aborted */
export type Ask = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

export interface QuitOptions {
  /** For each quit: until it was answered and the sidecar is gone. */
  readonly timeoutMs: number;
  readonly headers: readonly Header[];
  /** Whether the sidecars have been up: where nobody listens any more, they are gone, not late. */
  readonly wereReady: boolean;
  /** What asks instead of `askServer`. */
  readonly ask?: Ask;
}

export interface SendOptions extends Pick<QuitOptions, "headers" | "wereReady" | "ask"> {
  /** What each attempt is to ask, where that may change. */
  readonly again?: (() => QuitRequest | undefined) | undefined;
}

/** What came of a quit. */
export interface Told {
  /** Where it was asked last. */
  readonly target: HttpTarget;
  /** The answer, or why there is none; undefined: the last attempt hung until time was up. */
  readonly result: HttpAnswer | RequestFailed | undefined;
  /** Whether an attempt lost its connection before the answer: the sidecar may have ended because of it. */
  readonly wasHeard: boolean;
}

/** What the attempts have come to. */
interface Attempts {
  target: HttpTarget;
  answer?: HttpAnswer;
  /** Why the last one brought no answer. */
  failure?: RequestFailed | undefined;
  wasHeard: boolean;
  /** Since when one is under way. */
  since?: number | undefined;
}

const SHORT_MS = 100;

/**
 * Sends a quit, again where the connection fails or the server says 5xx, until it is answered or time is up. Where nobody listens,
 * and it can go elsewhere, it goes there in the same attempt.
 */
export async function sendQuit(quit: QuitRequest, options: SendOptions, signal: AbortSignal): Promise<Told> {
  const seen: Attempts = { target: quit.target, wasHeard: false };
  const result = await attemptAll(quit, options, { seen, signal });
  return { target: seen.target, result, wasHeard: seen.wasHeard };
}

interface Around {
  readonly seen: Attempts;
  readonly signal: AbortSignal;
}

async function attemptAll(quit: QuitRequest, options: SendOptions, around: Around): Promise<Told["result"]> {
  const { seen, signal } = around;
  const attempt = () => attemptOnce(options.again?.() ?? quit, options, around);
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Unanswered)) return whenAborted(error, seen, signal);
    if (!mayRepeat(quit, seen)) return seen.failure ?? seen.answer;
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
      shouldRetry: ({ attemptNumber }) => mayRepeat(quit, seen) && !isGone(seen, attemptNumber, options),
    });
  } catch (error) {
    return error instanceof Unanswered ? (seen.failure ?? seen.answer) : whenAborted(error, seen, signal);
  }
}

/** One that must not be heard twice is repeated only where nobody has heard it. */
function mayRepeat({ isOnce }: QuitRequest, { failure }: Attempts): boolean {
  return isOnce !== true || failure?.kind === "refused";
}

/** Nobody listens where somebody did: three tries are enough to be sure. */
function isGone({ failure, wasHeard }: Attempts, attemptNumber: number, { wereReady }: SendOptions): boolean {
  return (wereReady || wasHeard) && failure?.kind === "refused" && attemptNumber >= 2;
}

async function attemptOnce(quit: QuitRequest, options: SendOptions, { seen, signal }: Around): Promise<HttpAnswer> {
  const { ask = askServer } = options;
  const { method, target, otherwise } = quit;
  const headers = headersOf(quit, options.headers);
  const tell = (target: HttpTarget) => {
    seen.target = target;
    return record(ask({ method, target, headers }, signal), seen);
  };
  try {
    return await tell(target);
  } catch (error) {
    if (otherwise === undefined || seen.failure?.kind !== "refused") throw error;
  }
  const first = seen.failure;
  try {
    return await tell(otherwise.target);
  } catch (error) {
    if (seen.failure?.kind === "refused") {
      seen.target = target;
      seen.failure = first;
    }
    throw error;
  }
}

export async function askServer(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const answering = askDirectly(request, signal);
  if (answering !== undefined) return await answering;
  using client = createHttpClient();
  return await client.request(request, signal);
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
    if (error.kind === "broken") seen.wasHeard = true;
  }
  seen.since = undefined;
  throw new Unanswered();
}

/** What is known when time is up: an attempt that had only just begun would have ended as the one before. */
function whenAborted(error: unknown, { answer, failure, since }: Attempts, signal: AbortSignal): Told["result"] {
  if (!signal.aborted) throw error;
  return answer ?? (since === undefined || performance.now() - since < SHORT_MS ? failure : undefined);
}
