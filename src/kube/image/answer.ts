import { redactSecrets } from "../../core/base/redact.ts";
import { type LookupError, lookupError, type Refused, refusalError } from "../../core/image/failure.ts";
import { readStreamWithin } from "../../system/input.ts";
import { type Conversation, nameOf, serverOf, toLookupError } from "./exchange.ts";

const LARGEST_REFUSAL = 64 * 1024;

/** Reads a whole answer. Rejects with LookupError if it has more than `most` bytes, or breaks off. */
export async function bodyOf(session: Conversation, response: Response, most: number): Promise<Buffer> {
  try {
    return await readStreamWithin("its answer", response.body ?? new Blob().stream(), most);
  } catch (error) {
    if (error instanceof Error && /^its answer has more/.test(error.message))
      throw lookupError("invalid", `${nameOf(session)}: ${error.message}`);
    throw toLookupError(error, serverOf(session, response.url));
  }
}

/** Reads what is in an answer. @throws LookupError in the place of any error */
export function parse<T>(session: Conversation, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw lookupError("invalid", `${nameOf(session)}: ${redactSecrets((error as Error).message, session.sent)}`);
  }
}

/** Makes an error of an answer that refuses. */
export async function refusalOf({ sent }: Conversation, response: Response, refused: Refused): Promise<LookupError> {
  const body = await readStreamWithin("it", response.body ?? new Blob().stream(), LARGEST_REFUSAL).catch(() => "");
  const { status, headers } = response;
  return refusalError(refused, { status, body: body.toString(), retryAfter: headers.get("retry-after"), sent });
}
