import { refusesConnections } from "../../shared/http/tcp-check.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";

/** Reports whether an ordinary proxy has an agent that accepts connections, and so has not got its SIGTERM. */
export function hasAgent(sidecar: Sidecar): boolean {
  const agent = agentOf(sidecar);
  return agent !== undefined && !refusesConnections(agent);
}

/** Reports whether its agent refuses connections: it does from its SIGTERM on. */
export function isAgentLeaving(sidecar: Sidecar): boolean {
  const agent = agentOf(sidecar);
  return agent !== undefined && refusesConnections(agent);
}

function agentOf({ name, isNative, alwaysOpen }: Sidecar) {
  return isNative || name === "custom" || kindOf(name).agent === undefined ? undefined : alwaysOpen;
}
