import { type HttpTarget, withPath } from "../../shared/core/address.ts";
import { excerpt, type Header } from "../../shared/http/core/http-framing.ts";
import { fetchWithin, readBodyWithin } from "../../shared/http/fetch.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import type { Inbound } from "../../shared/sidecars/core/inbound.ts";
import { type EnvoyTarget, MAX_ADMIN_ANSWER } from "./admin.ts";
import { askStats } from "./ask-stats.ts";
import { clustersPath } from "./core/clusters.ts";
import { boundListenersPath } from "./core/stats.ts";
import type { AdminAnswer, AdminAnswers } from "./core/status.ts";
import { readListeners } from "./scope.ts";

/**
 * Asks an Envoy's admin interface for its state, by several requests at once, and resolves with the answers within
 * `withinMs`. A request that fails is a `problem` in the place of its answer.
 */
export async function askForStatus(
  { admin, headers = [] }: EnvoyTarget,
  { withinMs, inbound }: StateOptions,
): Promise<AdminAnswers> {
  const end = performance.now() + withinMs;
  const get = (path: string) => getWithin(withPath(admin, path), headers, end - performance.now());
  const [serverInfo, stats, bound, dump, clusters] = await Promise.all([
    get("/server_info"),
    askStats(get, (answer) => ("text" in answer ? answer.text : undefined)),
    get(boundListenersPath),
    readListeners(get),
    inbound === undefined ? undefined : get(clustersPath(inbound)),
  ]);
  return { serverInfo, stats: stats.answer, bound, dumped: dump.listeners, notDumped: dump.problem, clusters };
}

interface StateOptions {
  /** The time for all requests together. */
  readonly withinMs: number;
  /** How to recognize inbound clusters; without it they are not asked for. */
  readonly inbound: Inbound | undefined;
}

async function getWithin(target: HttpTarget, headers: readonly Header[], withinMs: number): Promise<AdminAnswer> {
  if (withinMs <= 0) return { problem: "not all of it was answered in time" };
  try {
    // by fetch, because it keeps its connections from one look to the next: watching leaves no trail of closed ones
    const { status, body } = await fetchWithin(target, { method: "GET", headers, timeMs: withinMs });
    const text = (await readBodyWithin(body, MAX_ADMIN_ANSWER)).toString();
    if (status === 200) return { text };
    return { problem: `HTTP ${status}${text.trim() === "" ? "" : ` ${excerpt(text)}`}` };
  } catch (error) {
    if (error instanceof RequestFailed) return { problem: error.message };
    throw error;
  }
}
