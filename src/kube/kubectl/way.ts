import { execContainers } from "../../core/kubectl/exec-containers.ts";
import type { FarSidecar } from "../../core/kubectl/forwarded.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import type { EphemeralImage } from "./ephemeral.ts";
import { type FoundEbb, findEbb } from "./exec.ts";
import type { PodSession } from "./session.ts";
import { whyUnreachable } from "./tunnel.ts";

/** How a pod is asked, or why it cannot be. */
export type Way =
  | { readonly kind: "exec"; readonly container: string; readonly path: string }
  | { readonly kind: "port-forward" | "ephemeral" }
  | { readonly kind: "none"; readonly why: string };

/** The flags that decide the way. */
export interface PodSettings extends EphemeralImage {
  readonly container: string | undefined;
}

interface Asked extends PodSettings {
  /** The sidecars that are to be asked through a port-forward. */
  readonly far: readonly FarSidecar[];
}

/** Looks for an ebb in a pod: in a container of this name, or where it may be. */
export function findInPod({ container }: Pick<PodSettings, "container">, session: PodSession): Promise<FoundEbb> {
  return findEbb(container === undefined ? execContainers(viewOf(session.pod)) : [container], session);
}

/**
 * Finds the way to a pod: an ebb in it, else a port-forward if one of its sidecars answers, else an ephemeral container.
 * Logs which way it is, unless ebb is in the pod.
 */
export async function findWay({ far, image, ...asked }: Asked, session: PodSession): Promise<Way> {
  const { log, ref } = session;
  const found = await findInPod(asked, session);
  if ("path" in found) return { kind: "exec", ...found };
  const ports = far.flatMap((one) => one.ports.map((port) => [one.sidecar.name, port] as const));
  const answers = await Promise.all(ports.map(([, port]) => whyUnreachable(port, session)));
  if (answers.includes(undefined)) {
    log.info({ pod: ref.name, reason: found.why }, "no ebb in the pod: using a port-forward");
    return { kind: "port-forward" };
  }
  const refusals =
    ports.length === 0 ? ["no sidecar that ebb knows runs"] : ports.map(([name], at) => `${name}: ${answers[at]}`);
  const why = [...new Set([found.why, ...refusals])].join("; ");
  if (image === undefined) return { kind: "none", why };
  log.info({ pod: ref.name, image, reason: why }, "no ebb in the pod: using an ephemeral container");
  return { kind: "ephemeral" };
}
