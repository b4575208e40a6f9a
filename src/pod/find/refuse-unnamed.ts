import type { CallContext } from "../../shared/cli/core/call.ts";
import { allOf, EXIT, Failure } from "../../shared/core/exit.ts";
import { foundByName } from "../../shared/sidecars/core/choice.ts";
import { onNode, planSidecars } from "../../shared/sidecars/core/plan.ts";
import { unnamedFor, unnamedIn, whyUnnamed } from "../../shared/sidecars/core/unnamed.ts";
import { readAnnotations } from "./annotations.ts";
import type { SidecarSettings } from "./find.ts";
import { isOnNode } from "./network.ts";

/**
 * Rejects with Failure(64) if `--sidecar` names a sidecar on the node's network, and nothing its address. That of a quit
 * is none for `ebb wait`, which sends no quit. A call in the name of another tool, which names the sidecar by itself, goes
 * on without it.
 */
export async function refuseUnnamed(
  command: "run" | "wait",
  settings: SidecarSettings,
  { env, compat }: Pick<CallContext, "env" | "compat">,
): Promise<void> {
  const { named } = settings.sidecar;
  if (compat !== undefined || named.every(({ port }) => port !== undefined) || !(await isOnNode(settings))) return;
  const urls = command === "run" ? settings : { ...settings, quit: [], signalProcess: [] };
  const found = foundByName({ env, annotations: readAnnotations(settings.podAnnotations) }, named).map(onNode);
  const planned = { found, sidecars: planSidecars(found, urls) };
  const names = new Set(unnamedIn(planned, urls));
  if (command === "wait") for (const name of unnamedFor(["wait"], planned, urls)) names.add(name);
  if (names.size > 0) throw new Failure(EXIT.usage, allOf([...names].map((name) => `${command}: ${whyUnnamed(name)}`)));
}
