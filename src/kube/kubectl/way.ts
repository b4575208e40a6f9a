import { execContainers } from "../../core/kubectl/exec-containers.ts";
import { type FarSidecar, farSidecarsOf } from "../../core/kubectl/forwarded.ts";
import { viewOf } from "../../core/reap/pod-view.ts";
import type { KubeObject } from "../api/client.ts";
import { type PodRef, podRefOf } from "../reaper/act/acting.ts";
import { findEbb } from "./exec.ts";
import type { Around, Session } from "./session.ts";
import { whyUnreachable } from "./tunnel.ts";

/** How a pod is asked, or why it cannot be. */
export type Way =
  | { readonly kind: "exec"; readonly container: string; readonly path: string }
  | { readonly kind: "port-forward"; readonly far: readonly FarSidecar[] }
  | { readonly kind: "ephemeral"; readonly image: string }
  | { readonly kind: "none"; readonly why: string };

/** What decides the way. */
export interface Asked {
  readonly container: string | undefined;
  readonly image: string | undefined;
}

/** Looks for an ebb in a pod: in a container of this name, or where it may be. */
export async function findInPod(
  pod: KubeObject,
  { container }: Pick<Asked, "container">,
  { api }: Session,
  signal: AbortSignal,
) {
  const containers = container === undefined ? execContainers(viewOf(pod)) : [container];
  return await findEbb(containers, { api, pod: podRefOf(pod), signal });
}

/**
 * Finds the way to a pod: an ebb in it, else its sidecars that `isMeant` takes through a port-forward, else an ephemeral
 * container. Logs which way it is, unless ebb is in the pod.
 */
export async function findWay(
  pod: KubeObject,
  asked: Asked & { readonly isMeant: (far: FarSidecar) => boolean },
  session: Session,
  { log, signal }: Around,
): Promise<Way> {
  const ref = podRefOf(pod);
  const found = await findInPod(pod, asked, session, signal);
  if ("path" in found) return { kind: "exec", ...found };
  const all = farSidecarsOf(viewOf(pod)).filter(asked.isMeant);
  const { far, refusals } = await reachable(all, { api: session.api, pod: ref, signal });
  const reasons = [found.why, ...(all.length === 0 ? ["no sidecar that ebb knows runs"] : refusals)];
  const reason = reasons.join("; ");
  const { name } = ref;
  if (far.length > 0) {
    log.info({ pod: name, reason: found.why }, "no ebb in the pod: using a port-forward");
    return { kind: "port-forward", far };
  }
  if (asked.image === undefined) return { kind: "none", why: reason };
  log.info({ pod: name, image: asked.image, reason }, "no ebb in the pod: using an ephemeral container");
  return { kind: "ephemeral", image: asked.image };
}

interface Reaching extends Pick<Session, "api"> {
  readonly pod: PodRef;
  readonly signal: AbortSignal;
}

/** Asks each port. Resolves with the sidecars that answer at one, each with those ports alone, and why others do not. */
async function reachable(all: readonly FarSidecar[], context: Reaching) {
  const refusals: string[] = [];
  const far: FarSidecar[] = [];
  for (const one of all) {
    const answers = await Promise.all(one.ports.map((port) => whyUnreachable(port, context)));
    if (answers.includes(undefined)) far.push(one);
    else refusals.push(...answers.map((why) => `${one.sidecar.name}: ${why}`));
  }
  return { far, refusals: [...new Set(refusals)] };
}
