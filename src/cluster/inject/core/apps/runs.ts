import { starterOf } from "../facts/command.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import { hasVariable } from "../facts/env.ts";

/** The tools in whose names ebb is `ebb run` for the Envoy that ENVOY_ADMIN_API names, and for no sidecar without it. */
const ofEnvoy = ["scuttle", "envoy-preflight"];

/**
 * Reports whether `ebb run` starts the app, beside its sidecars, and stays until it has ended. In the names of other tools
 * ebb becomes the app: valet, and linkerd-await without --shutdown.
 */
export function isRun({ start, container }: Pick<AppContainer, "start" | "container">): boolean {
  if (start.kind !== "wrapped") return start.kind === "own-ebb";
  const starter = starterOf(start.words);
  return starter.kind !== "tool" || (ofEnvoy.includes(starter.name) && hasVariable(container, "ENVOY_ADMIN_API"));
}
