import type { Log } from "../../shared/output/log.ts";
import { ENVOY_DRAINING } from "../../shared/sidecars/core/probe.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { locateAdmin } from "../find/admin-socket.ts";
import { connectAdmin, type EnvoyAdmin, isAnswer } from "./admin.ts";

/** Resolves with whether an Envoy's /ready says that it drains. */
export async function isDraining(sidecar: Sidecar): Promise<boolean> {
  const answer = await askAdmin(sidecar, (admin) => admin.get("/ready"));
  return answer !== undefined && !isAnswer(answer) && answer.reason === ENVOY_DRAINING;
}

/**
 * Undoes what can be undone of a drain: makes an Envoy's health checks pass again (POST /healthcheck/ok), and logs its
 * answer, also that there is none, as a warning. A container never starts in a pod that is being deleted, so the drain
 * was a former container's.
 */
export async function undoDrain(sidecar: Sidecar, log: Log): Promise<void> {
  const outcome = await askAdmin(sidecar, (admin) => admin.post("/healthcheck/ok"));
  if (outcome === undefined) return;
  const answer = isAnswer(outcome) ? `HTTP ${outcome.status}` : outcome.reason;
  log.warn(
    { sidecar: sidecar.name, answer },
    "Envoy was still draining for the previous container: made its health checks pass again",
  );
}

async function askAdmin(sidecar: Sidecar, ask: (admin: EnvoyAdmin) => ReturnType<EnvoyAdmin["get"]>) {
  const { envoy } = locateAdmin(sidecar);
  if (envoy === undefined) return undefined;
  using admin = connectAdmin(envoy, new AbortController().signal);
  return await ask(admin);
}
