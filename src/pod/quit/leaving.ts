import { describeTarget, withPath } from "../../shared/core/address.ts";
import { refusesConnections } from "../../shared/http/tcp-check.ts";
import type { Log } from "../../shared/output/log.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { connectAdmin, isAnswer } from "../envoy/admin.ts";

/** Returns those of the sidecars whose agent accepts connections: an agent that refuses them later has got its SIGTERM. */
export function withAgent(sidecars: readonly Sidecar[]): readonly Sidecar[] {
  return sidecars.filter((sidecar) => agentOf(sidecar) !== undefined && !isLeaving(sidecar));
}

/** Envoy's own quit, with which its agent ends, too (istio pkg/envoy/agent.go, Run). */
const QUIT = "/quitquitquit";

/**
 * Ends the Envoys of agents that have got their SIGTERM and would sit out a drain of their own, although the app has
 * drained and ended. `agents`: what `withAgent` returned while the app ran.
 */
export async function endLeaving(agents: readonly Sidecar[], log: Log): Promise<void> {
  await Promise.all(agents.filter(isLeaving).map((sidecar) => endEnvoy(sidecar, log)));
}

async function endEnvoy({ name, envoy }: Sidecar, log: Log): Promise<void> {
  if (envoy === undefined) return;
  using admin = connectAdmin(envoy, new AbortController().signal);
  const request = `POST ${describeTarget(withPath(envoy.admin, QUIT))}`;
  // without an answer it has ended by itself
  if (isAnswer(await admin.post(QUIT)))
    log.info({ sidecar: name, request }, "the agent only waits after its SIGTERM: asked its Envoy to exit");
}

/** Reports whether the agent refuses connections: it does from its SIGTERM on. */
function isLeaving(sidecar: Sidecar): boolean {
  const agent = agentOf(sidecar);
  return agent !== undefined && refusesConnections(agent);
}

function agentOf({ name, isNative, alwaysOpen }: Sidecar) {
  return isNative || name === "custom" || kindOf(name).agent === undefined ? undefined : alwaysOpen;
}
