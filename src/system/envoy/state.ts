import { at, type HttpTarget } from "../../core/address.ts";
import { type AdminAnswer, type AdminAnswers, adminPaths } from "../../core/envoy/status.ts";
import { excerpt } from "../../core/http-message.ts";
import { fetchStreamed } from "../fetch.ts";
import { RequestFailed } from "../request-failed.ts";

const MIB = 1024 * 1024;
const MAX_ANSWER_MIB = 16;

/**
 * Asks an Envoy's admin interface for all of `adminPaths` at the same time. Never rejects, never takes longer than `withinMs`.
 * By fetch, which keeps its connections from one look to the next: watching leaves no trail of closed ones.
 */
export function askEnvoy(admin: HttpTarget, withinMs: number): Promise<AdminAnswers> {
  return Promise.all(adminPaths().map((path) => ask(at(admin, path), withinMs)));
}

async function ask(target: HttpTarget, withinMs: number): Promise<AdminAnswer> {
  try {
    const answer = await fetchStreamed({ method: "GET", target, headers: [], body: undefined }, withinMs);
    const text = await readText(answer.body);
    if (text === undefined) return { problem: `an answer longer than ${MAX_ANSWER_MIB} MiB` };
    if (answer.status === 200) return { text };
    return { problem: `HTTP ${answer.status}${text.trim() === "" ? "" : ` ${excerpt(text)}`}` };
  } catch (error) {
    if (error instanceof RequestFailed) return { problem: error.message };
    throw error;
  }
}

/** Undefined where it is too long. */
async function readText(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_ANSWER_MIB * MIB) return undefined;
  }
  return text + decoder.decode();
}
