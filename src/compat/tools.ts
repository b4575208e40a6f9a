import { envoyPreflight } from "./envoy-preflight.ts";
import { linkerdAwait } from "./linkerd-await.ts";
import { pilotAgent } from "./pilot-agent.ts";
import { scuttle } from "./scuttle.ts";
import type { CompatTool } from "./tool.ts";
import { valet } from "./valet.ts";

/** The tools in whose names ebb can be started, by name. shared/cli/core/names.ts has the names alone. */
export const compatTools: Readonly<Record<string, CompatTool>> = {
  scuttle,
  "envoy-preflight": envoyPreflight,
  "linkerd-await": linkerdAwait,
  valet,
  "pilot-agent": pilotAgent,
};
