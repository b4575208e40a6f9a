import { redactSecrets } from "../../shared/core/redact.ts";
import { readBodyWithin } from "../../shared/http/fetch.ts";
import { tooLong } from "../../shared/http/request-failed.ts";
import { readStreamWithin } from "../../shared/io/input.ts";
import { LookupError, lookupError, type Refused, refusalError } from "./core/failure.ts";
import { type RegistryAnswer, toLookupError } from "./send-request.ts";
import { registryOf, type Session } from "./session.ts";

/** The most bytes of a refusal or a token: a megabyte of brackets takes 0.1 s to parse. */
export const LARGEST_SHORT = 64 * 1024;

/** Reads a whole answer. Rejects with LookupError if it has more than `most` bytes, or breaks off. */
export async function bodyOf(session: Session, { body, url }: RegistryAnswer, most: number): Promise<Buffer> {
  try {
    const refuse = () => lookupError("invalid", `${registryOf(session)}: ${tooLong(most)}`);
    return await readStreamWithin(counted(session, body), most, refuse);
  } catch (error) {
    throw error instanceof LookupError ? error : toLookupError(error, session, url);
  }
}

/** Passes an answer on, unless it is too much together with the other answers of the registry that arrive now. */
async function* counted({ source: { host }, client }: Session, answer: AsyncIterable<Uint8Array>) {
  const { arriving, mostArriving } = client;
  let bytes = 0;
  try {
    for await (const piece of answer) {
      bytes += piece.length;
      const all = (arriving.get(host) ?? 0) + piece.length;
      arriving.set(host, all);
      if (all > mostArriving)
        throw new LookupError("timeout", `too many large answers from ${host} at once`, {
          remedy: "create the pod again",
          retryAfterMs: 0,
        });
      yield piece;
    }
  } finally {
    arriving.set(host, (arriving.get(host) ?? 0) - bytes);
  }
}

/** Reads what is in an answer. @throws LookupError in the place of any error */
export function parse<T>(session: Session, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw lookupError("invalid", `${registryOf(session)}: ${redactSecrets((error as Error).message, session.sent)}`);
  }
}

/** Makes an error of an answer that refuses. */
export async function refusalOf({ sent }: Session, answer: RegistryAnswer, refused: Refused): Promise<LookupError> {
  const { status, headers } = answer;
  const body = await readBodyWithin(answer.body, LARGEST_SHORT).catch(() => "");
  return refusalError(refused, { status, body: body.toString(), retryAfter: headers.get("retry-after"), sent });
}
