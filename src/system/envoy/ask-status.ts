import { type HttpTarget, withPath } from "../../core/base/address.ts";
import { excerpt } from "../../core/base/http-framing.ts";
import { clustersPath } from "../../core/envoy/clusters.ts";
import type { Inbound } from "../../core/envoy/inbound.ts";
import { boundListenersPath, statsPath } from "../../core/envoy/stats-query.ts";
import type { AdminAnswer, AdminAnswers } from "../../core/envoy/status.ts";
import { fetchStreamed } from "../http/fetch.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { type KnownListeners, learnListeners } from "./listeners.ts";

const MIB = 1024 * 1024;
const MAX_ANSWER_MIB = 16;

/**
 * Asks an Envoy's admin interface for its state, by several requests at once. Never rejects, never takes longer than `withinMs`.
 *
 * By fetch, which keeps its connections from one look to the next: watching leaves no trail of closed ones.
 */
export async function askForStatus(
  admin: HttpTarget,
  { withinMs, inbound, known }: StateOptions,
): Promise<AdminAnswers> {
  const end = performance.now() + withinMs;
  const get = (path: string) => ask(withPath(admin, path), end - performance.now());
  const bounds = get(boundListenersPath);
  const getOnce = (path: string) => (path === boundListenersPath ? bounds : get(path));
  const [serverInfo, stats, bound, notDumped, clusters] = await Promise.all([
    get("/server_info"),
    get(statsPath),
    bounds,
    learnListeners(getOnce, known),
    inbound === undefined ? undefined : get(clustersPath(inbound)),
  ]);
  return { serverInfo, stats, bound, dumped: [...known.values()], notDumped, clusters };
}

export interface StateOptions {
  readonly withinMs: number;
  readonly inbound: Inbound | undefined;
  /** Of looks before this one: their configurations, which are long, are not asked for again. */
  readonly known: KnownListeners;
}

async function ask(target: HttpTarget, withinMs: number): Promise<AdminAnswer> {
  if (withinMs <= 0) return { problem: "not all of it was answered in time" };
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

/** Reads a body as text; undefined if it is too long. */
async function readText(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_ANSWER_MIB * MIB) return undefined;
  }
  return text + decoder.decode();
}
