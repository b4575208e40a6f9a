import { type HttpTarget, withPath } from "../../core/base/address.ts";
import { judgeNeighbour, type Neighbour, proofPath, urlOf } from "../../core/sidecars/ownership/proof.ts";
import type { SidecarName } from "../../core/sidecars/registry.ts";
import { createHttpClient } from "../http/http.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { abortedAfter } from "../timer.ts";

const ASK_MS = 500;
/** In bytes. An Envoy lists all of its extensions, and under Consul its bootstrap. */
const MAX_ANSWER = 1024 * 1024;
/** How often, and after which time, a proxy that does not answer yet is asked. */
const MAX_TRIES = 20;
const TRY_PERIOD_MS = 50;

/** The last question to a proxy, and what came of it. */
interface ProxyQuestion {
  readonly neighbour: Neighbour;
  readonly tries: number;
  /** When it was asked (performance.now()). */
  readonly at: number;
}

/** The last questions by URL, as long as ebb runs. */
const asked = new Map<string, ProxyQuestion>();

/** When and how long an admin interface is asked. */
export interface Asking {
  /** The ports that containers of the app declare. They are never asked. */
  readonly appPorts: ReadonlySet<number>;
  /** Whether there is no later attempt: a proxy that has not answered is then asked once more, whatever the limits. */
  readonly isLast: boolean;
  /** The time for an answer; by default 500 ms (`ASK_MS`). */
  readonly patienceMs?: number | undefined;
  /**
   * The time (performance.now()) before which no answer counts: on the node's network its port may be another pod's by
   * now.
   */
  readonly since?: number;
  readonly signal: AbortSignal;
}

/**
 * Asks an admin interface by one GET what it is, and resolves with that: a proxy, something else, or `silent`.
 * Remembers answers, and asks again only if there was none, at most every 50 ms and 20 times (`TRY_PERIOD_MS`,
 * `MAX_TRIES`), or if the answer is older than `since`. Resolves with `silent` for a port of `appPorts`, and if the
 * signal is aborted.
 */
export async function askProxy(
  name: SidecarName,
  admin: HttpTarget,
  { appPorts, isLast, patienceMs = ASK_MS, since = 0, signal }: Asking,
): Promise<Neighbour> {
  if (admin.address.kind === "tcp" && appPorts.has(admin.address.port)) return { kind: "silent" };
  const key = urlOf(withPath(admin, proofPath(name)));
  const { neighbour: before, tries = 0, at: lastAt = 0 } = asked.get(key) ?? {};
  const now = performance.now();
  if (before !== undefined && before.kind !== "silent" && lastAt >= since) return before;
  if (before !== undefined && !isLast && (tries >= MAX_TRIES || now - lastAt < TRY_PERIOD_MS)) return before;
  const neighbour = await askOnce(name, admin, AbortSignal.any([signal, abortedAfter(patienceMs)]));
  asked.set(key, { neighbour, tries: tries + 1, at: now });
  return neighbour;
}

async function askOnce(name: SidecarName, admin: HttpTarget, signal: AbortSignal): Promise<Neighbour> {
  using client = createHttpClient({ maxAnswer: MAX_ANSWER });
  const headers = [["Accept", "application/json"]] as const;
  const request = { method: "GET", target: withPath(admin, proofPath(name)), headers };
  try {
    return judgeNeighbour(name, await client.request(request, signal));
  } catch (error) {
    if (error instanceof RequestFailed) return { kind: error.kind === "refused" ? "silent" : "other" };
    if (!signal.aborted) throw error;
    return { kind: "silent" };
  }
}
