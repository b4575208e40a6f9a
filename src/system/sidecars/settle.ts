import type { ListeningPort } from "../../core/sidecars/detect.ts";
import { networkByHosts } from "../../core/sidecars/ownership/hosts-file.ts";
import type { FoundSidecar } from "../../core/sidecars/plan.ts";
import { kindOf } from "../../core/sidecars/registry.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { readIfThere } from "../file.ts";
import { readListeners } from "../process/sockets.ts";
import { type FindOptions, type FoundSidecars, planHere, readAnnotations, type SidecarSettings } from "./find.ts";
import type { Neighbours } from "./neighbours.ts";

/** What is meant to be done to the sidecars. */
export type Purpose = "wait" | "quit" | "drain" | "ask";

export interface SettleOptions extends Pick<FindOptions, "env" | "log" | "signal" | "actMs" | "onStranger"> {
  readonly purpose: Purpose;
  /** Those of an earlier time, who have answered then. */
  readonly neighbours?: Neighbours;
}

/**
 * Checks the sidecars before anything is done to them: drops those that only a port suggests and nothing proves, and finds an
 * Envoy's admin interface where it moved. Returns `here` itself where nothing changes. On a network that may be the node's each
 * proxy must prove anew whose it is.
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

/** Whether `settle` has something to find out: one is to prove something, or its admin interface may be elsewhere. */
export function isUnsettled(here: FoundSidecars, settings: SidecarSettings, purpose: Purpose): boolean {
  const isOwn = purpose === "wait" || isOwnNetwork(settings);
  return openIn(here, settings, { purpose, isOwn }).length > 0;
}

/** Whether the network is the pod's own for sure, as `networkOf` has it: two files tell, and the module need not be loaded. */
export function isOwnNetwork({ hostNetwork }: SidecarSettings): boolean {
  if (hostNetwork !== undefined) return !hostNetwork;
  return networkByHosts(readIfThere("/etc/hosts"), readIfThere("/proc/self/mountinfo")) === "own";
}

interface Situation {
  readonly purpose: Purpose;
  readonly isOwn: boolean;
}

/** One that is to prove something, or has an admin interface of which nobody has said where it is. */
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

/** Somebody listens where it should be. */
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
