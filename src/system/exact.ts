import type { HttpRequest } from "../core/http-message.ts";
import type { StreamedAnswer } from "./fetch.ts";
import { createHttpClient } from "./http.ts";
import { RequestFailed } from "./request-failed.ts";
import { abortedAfter } from "./timer.ts";

/**
 * Sends a request as it stands: Bun's fetch turns a method that it does not know into GET, normalises paths, and drops the
 * body of a GET. The answer comes once it is whole.
 * @throws RequestFailed
 */
export async function askExactly(request: HttpRequest, timeoutMs: number): Promise<StreamedAnswer> {
  const signal = abortedAfter(timeoutMs);
  const pieces: Uint8Array[] = [];
  const keep = (text: string): void => void pieces.push(Buffer.from(text, "latin1"));
  using client = createHttpClient();
  try {
    const { status, headers } = await client.request(request, signal, keep);
    return { status, statusText: "", location: headers.get("location"), body: oneByOne(pieces) };
  } catch (error) {
    throw signal.aborted ? new RequestFailed("late", "no answer in time") : error;
  }
}

async function* oneByOne(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
