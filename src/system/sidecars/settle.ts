import type { ListeningPort } from "../../core/sidecars/detect.ts";
import { networkByHosts } from "../../core/sidecars/ownership/hosts-file.ts";
import type { FoundSidecar } from "../../core/sidecars/plan.ts";
import { kindOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { readIfThere } from "../file.ts";
import { readListeners } from "../process/sockets.ts";
import { type FindOptions, type FoundSidecars, planHere, readAnnotations, type SidecarSettings } from "./find.ts";
import type { Neighbours } from "./neighbours.ts";

/** What is about to be done to the sidecars. `ask` reads their state. */
export type Purpose = "wait" | "quit" | "drain" | "ask";

export interface SettleOptions extends Pick<FindOptions, "env" | "log" | "signal" | "actMs" | "onStranger"> {
  readonly purpose: Purpose;
  /** Loaded already, for calls again and again. */
  readonly neighbours?: Neighbours;
}

/**
 * Checks whose the sidecars are and where they are, before anything is done to them: drops those that only a port
 * suggests and nothing proves, and finds an Envoy's admin interface that is elsewhere. Unless `purpose` is `wait`, each
 * proxy on the node's network must prove anew whose it is; on a network that may be the node's, each that only a port
 * tells of. Resolves with `here` itself if nothing changes. Calls `onStranger` with each proxy that it drops, and logs
 * admin interfaces that it finds elsewhere.
 */
export async function settle(
  here: FoundSidecars,
  settings: SidecarSettings,
  options: SettleOptions,
): Promise<FoundSidecars> {
  const { purpose, env, log, signal, actMs, onStranger } = options;
  if (here.found.length === 0) return here;
  const isOwn = purpose === "wait" || isOwnNetwork(settings);
  const open = openIn(here, settings, { purpose, isOwn });
  if (open.length === 0) return here;
  const listeners = readListeners(log);
  if (isOwn && open.every((sidecar) => isSettled(sidecar, listeners))) return here;
  const neighbours = options.neighbours ?? (await loadNeighbours(settings, env));
  const { found, strangers } = await neighbours.settle(here.found, listeners, {
    signal,
    isAct: purpose !== "wait",
    actMs,
  });
  for (const stranger of strangers) onStranger(stranger);
  const moved = found.filter((one) => one.adjustment?.admin !== adminOf(one, here));
  for (const { name, adjustment } of moved)
    log.info({ sidecar: name, admin: adjustment?.admin }, "found the sidecar's admin interface");
  return isOwn && found.length === here.found.length && moved.length === 0 ? here : planHere(found, settings);
}

/**
 * Reports whether `settle` has to ask over the network before `purpose` (a quit, a drain or a request): whether a proxy
 * that was found belongs to this pod, or on which port its admin interface is.
 */
export function isUnsettled(here: FoundSidecars, settings: SidecarSettings, purpose: Purpose): boolean {
  const isOwn = purpose === "wait" || isOwnNetwork(settings);
  return openIn(here, settings, { purpose, isOwn }).length > 0;
}

/**
 * Reports whether the network is certainly the pod's own, and not the node's, by `--host-network` or /etc/hosts and
 * mountinfo.
 */
export function isOwnNetwork({ hostNetwork }: SidecarSettings): boolean {
  if (hostNetwork !== undefined) return !hostNetwork;
  return networkByHosts(readIfThere("/etc/hosts"), readIfThere("/proc/self/mountinfo")) === "own";
}

interface Situation {
  readonly purpose: Purpose;
  readonly isOwn: boolean;
}

/** A sidecar that has to prove whose it is, or whose admin interface is at a place that nobody has given. */
interface Open {
  readonly found: FoundSidecar;
  readonly sidecar: Sidecar | undefined;
}

function openIn({ found, sidecars }: FoundSidecars, settings: SidecarSettings, situation: Situation): readonly Open[] {
  const open: Open[] = [];
  for (const [index, one] of found.entries()) {
    const sidecar = sidecars[index];
    if (isOpen({ found: one, sidecar }, settings, situation)) open.push({ found: one, sidecar });
  }
  return open;
}

function isOpen({ found, sidecar }: Open, settings: SidecarSettings, { purpose, isOwn }: Situation): boolean {
  const { isCompanion, quitPath, readyPath, admin, ready } = kindOf(found.name);
  if (purpose !== "wait" && found.isSuggested === true) return true;
  if (purpose === "quit" && found.isNative) return false;
  if (!isOwn && !isCompanion && sidecar?.envoy?.admin.address.kind !== "unix") return true;
  if (isCompanion || sidecar?.envoy?.admin.address.kind !== "tcp" || settings.admin !== undefined) return false;
  if (purpose === "wait") return ready === `${admin}${readyPath}`;
  return purpose !== "quit" || (quitPath !== undefined && sidecar.quits.length > 0);
}

/** Reports whether somebody listens where the sidecar's admin interface should be. */
function isSettled({ found, sidecar }: Open, listeners: readonly ListeningPort[]): boolean {
  const address = sidecar?.envoy?.admin.address;
  if (found.isSuggested === true || address?.kind !== "tcp") return false;
  return listeners.some(({ port }) => port === address.port);
}

/** Loads neighbours.ts, which few starts need, and creates its `Neighbours` for this pod. */
export async function loadNeighbours(settings: SidecarSettings, env: FindOptions["env"]): Promise<Neighbours> {
  const { createNeighbours } = await import("./neighbours.ts"); // few need it
  return createNeighbours({ env, annotations: readAnnotations(settings.podAnnotations), settings });
}

function adminOf({ name }: FoundSidecar, { found }: FoundSidecars): string | undefined {
  return found.find((one) => one.name === name)?.adjustment?.admin;
}
