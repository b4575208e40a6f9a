import { envoyPreflight } from "./envoy-preflight.ts";
import { linkerdAwait } from "./linkerd-await.ts";
import type { Personality } from "./personality.ts";
import { pilotAgent } from "./pilot-agent.ts";
import { scuttle } from "./scuttle.ts";
import { valet } from "./valet.ts";

/** The tools in whose names ebb can be started, by name. core/cli/names.ts has the names alone. */
export const personalities: Readonly<Record<string, Personality>> = {
  scuttle,
  "envoy-preflight": envoyPreflight,
  "linkerd-await": linkerdAwait,
  valet,
  "pilot-agent": pilotAgent,
};
