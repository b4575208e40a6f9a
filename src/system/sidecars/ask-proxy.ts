import { type HttpTarget, withPath } from "../../core/base/address.ts";
import { judgeNeighbour, type Neighbour, proofPath, urlOf } from "../../core/sidecars/ownership/proof.ts";
import type { SidecarName } from "../../core/sidecars/registry.ts";
import { createHttpClient } from "../http/http.ts";
import { RequestFailed } from "../http/request-failed.ts";
import { abortedAfter } from "../timer.ts";

const ASK_MS = 500;
/** An Envoy lists all of its extensions, and under Consul its bootstrap. */
const MAX_ANSWER = 1024 * 1024;
/** Of one that does not answer yet. */
const MAX_TRIES = 20;
const TRY_PERIOD_MS = 50;

interface ProxyQuestion {
  readonly neighbour: Neighbour;
  readonly tries: number;
  readonly at: number;
}

/** By URL, as long as ebb runs: nobody is asked again who has answered. */
const asked = new Map<string, ProxyQuestion>();

export interface Asking {
  /** The ports that containers of the app declare: nobody asks there. */
  readonly appPorts: ReadonlySet<number>;
  /** Who has not answered so often is asked once more. */
  readonly isLast: boolean;
  /** How long it has to answer: for one that is told of, and is not only somebody who listens. */
  readonly patienceMs?: number | undefined;
  /** An answer of before does not count: on the node's network its port may be another pod's by now. */
  readonly since?: number;
  readonly signal: AbortSignal;
}

/** Asks once; again only who has not answered. */
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
