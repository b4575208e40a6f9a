import { errorTexts } from "../../shared/core/system-error.ts";
import type { HttpRequest } from "../../shared/http/core/http-message.ts";
import type { StreamedAnswer } from "../../shared/http/fetch.ts";
import { RequestFailed, tooLong } from "../../shared/http/request-failed.ts";
import { MiB } from "../../shared/io/input.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import { createHttpClient } from "./http.ts";

/** The default limit of a body's bytes. All of it is held in memory, and /config_dump of a large mesh is long. */
const MAX_WHOLE = 256 * MiB;

/**
 * Sends a request whose method, path and body go out unchanged, and resolves with the answer once it is whole. Rejects
 * with RequestFailed if there is no valid answer, the body is longer than `mostBytes`, or it is not whole within
 * `timeoutMs`.
 */
export async function askExactly(
  request: HttpRequest,
  timeoutMs: number,
  mostBytes = MAX_WHOLE,
): Promise<StreamedAnswer> {
  // Bun's fetch turns a method that it does not know into GET, normalises paths, and drops the body of a GET
  const late = abortedAfter(timeoutMs);
  const full = new AbortController();
  const pieces: Uint8Array[] = [];
  let size = 0;
  const keep = (text: string): void => {
    size += text.length;
    if (size > mostBytes) full.abort();
    else pieces.push(Buffer.from(text, "latin1"));
  };
  using client = createHttpClient();
  try {
    const { status, headers } = await client.request(request, AbortSignal.any([late, full.signal]), keep);
    return { status, statusText: "", headers, body: oneByOne(pieces) };
  } catch (error) {
    if (full.signal.aborted) throw new RequestFailed("broken", tooLong(mostBytes));
    throw late.aborted ? new RequestFailed("late", errorTexts.ETIMEDOUT) : error;
  }
}

async function* oneByOne(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
