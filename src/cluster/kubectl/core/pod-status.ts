import { isProxy, type SidecarName } from "../../../shared/sidecars/core/registry.ts";
import { sidecarIn } from "../../core/containers.ts";
import { timeText } from "../../core/time.ts";
import { isNative, sortContainers } from "../../reaper/core/pod-containers.ts";
import type { Rule } from "../../reaper/core/pod-rules.ts";
import type { ContainerView, PodView } from "../../reaper/core/pod-view.ts";
import { isStuck, type Verdict } from "../../reaper/core/verdict.ts";

/** A container as `kubectl ebb` shows it, in JSON too. Null stands for what is not known or does not apply. */
export interface ContainerRow {
  readonly name: string;
  /**
   * `sidecar`: a mesh's proxy; `helper`: any other container beside the app; `native`: a native sidecar, which the
   * kubelet ends.
   */
  readonly role: "app" | "sidecar" | "helper" | "native" | "init" | "ephemeral";
  /** Which known sidecar it is. */
  readonly sidecar: SidecarName | null;
  readonly state: "running" | "waiting" | "terminated" | "unknown";
  readonly exitCode: number | null;
  /** The kubelet's word for the state: Completed, Error, ImagePullBackOff. */
  readonly reason: string | null;
  /** RFC 3339 in UTC. */
  readonly finishedAt: string | null;
}

/** What is known of a pod from the API server alone. */
export interface PodSummary {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | null;
  readonly phase: string | null;
  readonly job: string | null;
  readonly containers: readonly ContainerRow[];
}

/** A pod and what it is: a line in the table of `kubectl ebb status`. */
export interface PodRow extends PodSummary {
  /** Whether ebb is in it; `skipped`: the webhook left it as it is. */
  readonly ebb: "yes" | "no" | "skipped";
  /** The image from which ebb was put there. */
  readonly image: string | null;
  /** Only its sidecars are left, for good, whether or not a reaper may end them. */
  readonly stuck: boolean;
  /** The reaper's rule for the pod, were it selected: `stuck`, `app-running`. */
  readonly state: Rule;
  readonly why: string;
}

/** Returns what a pod tells of its containers: apps first, then what runs beside them. */
export function summaryOf(pod: PodView): PodSummary {
  const { namespace, name, uid, phase = null, job = null } = pod;
  return { namespace, name, uid: uid || null, phase, job, containers: containersOf(pod) };
}

function containersOf(view: PodView): readonly ContainerRow[] {
  const { apps, sidecars } = sortContainers(view);
  return [
    ...apps.map((each) => containerStatus(each, "app")),
    ...sidecars.map((each) => containerStatus(each, isProxyIn(each) ? "sidecar" : "helper")),
    ...view.initContainers.map((each) => containerStatus(each, isNative(each) ? "native" : "init")),
    ...view.ephemeralContainers.map((each) => containerStatus(each, "ephemeral")),
  ];
}

function isProxyIn({ name, image }: ContainerView): boolean {
  const sidecar = sidecarIn(name, image);
  return sidecar !== undefined && isProxy(sidecar);
}

function containerStatus({ name, image, state }: ContainerView, role: ContainerRow["role"]): ContainerRow {
  const isEnded = state.kind === "terminated";
  return {
    name,
    role,
    sidecar: role === "app" ? null : (sidecarIn(name, image) ?? null),
    state: state.kind,
    exitCode: isEnded ? state.exitCode : null,
    reason: (isEnded || state.kind === "waiting" ? state.reason : "") || null,
    finishedAt: isEnded ? timeText(state.finishedAt) : null,
  };
}

/** Returns what a pod is. `state`: as it is judged (`judgementOf`). */
export function rowOf(pod: PodView, state: Verdict): PodRow {
  const { ebb } = pod;
  const image = ebb.kind === "present" ? (ebb.image ?? null) : null;
  const absent = ebb.kind === "absent" && ebb.skipped !== undefined ? "skipped" : "no";
  const isThere = ebb.kind === "present" ? "yes" : absent;
  return { ...summaryOf(pod), ebb: isThere, image, stuck: isStuck(state), state: state.rule, why: state.reason };
}
