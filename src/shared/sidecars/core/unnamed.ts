import { type SidecarUrls, saysHowToQuit } from "./own-probes.ts";
import type { FoundSidecar } from "./plan.ts";
import { isProxy, kindOf, type SidecarName } from "./registry.ts";
import type { Sidecar } from "./sidecar.ts";

// On the node's network nothing may name where a sidecar is (`FoundSidecar.isOnNode`).

/** What ebb does to a sidecar. */
export type Act = "wait" | "drain" | "quit";

/** The sidecars of a pod, and what is planned for each, in the same order. */
interface Planned {
  readonly found: readonly FoundSidecar[];
  readonly sidecars: readonly Sidecar[];
}

type Quits = Pick<SidecarUrls, "quit" | "signalProcess">;

/** Returns the sidecars to which one of the acts cannot be done, because nothing names where that is. */
export function unnamedFor(acts: readonly Act[], { found, sidecars }: Planned, urls: Quits): readonly SidecarName[] {
  const names: SidecarName[] = [];
  for (const [at, { name, isOnNode }] of found.entries())
    if (isOnNode === true && acts.some((act) => lacks(act, sidecars[at] as Sidecar, urls))) names.push(name);
  return names;
}

/** Returns the sidecars of which nothing names any address. */
export function unnamedIn({ found, sidecars }: Planned, { quit }: Pick<SidecarUrls, "quit">): readonly SidecarName[] {
  const hasQuit = quit.some((one) => one !== "none" && one.isAdditional !== true);
  return found.flatMap(({ name, isNative, isOnNode }, at) => {
    const { ready, envoy, quits } = sidecars[at] as Sidecar;
    const isAsked = ready.length + quits.length > 0 || envoy !== undefined || (hasQuit && !isNative);
    const isToAsk = !isNative || kindOf(name).ready !== undefined;
    return isOnNode === true && isToAsk && !isAsked ? [name] : [];
  });
}

function lacks(act: Act, { name, isNative, ready, envoy, quits }: Sidecar, urls: Quits): boolean {
  const kind = kindOf(name as SidecarName);
  switch (act) {
    case "wait":
      return kind.ready !== undefined && ready.length === 0;
    case "drain":
      return kind.drainPath !== undefined && envoy === undefined;
    case "quit":
      return !isNative && quits.length === 0 && !saysHowToQuit(urls);
  }
}

/** Says why nothing is asked of a sidecar of which only the name is known, and what to set. */
export function whyUnnamed(name: SidecarName): string {
  return `nothing names the address of ${name}, and on the node's network its usual ports may be another pod's: set ${waysToName(name)}`;
}

/** Returns what names the address of a sidecar, as a user writes it. */
function waysToName(name: SidecarName): string {
  return `--sidecar ${name}:PORT${isProxy(name) ? " or --admin http://127.0.0.1:PORT" : ""}`;
}
