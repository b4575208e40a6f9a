import { objectOf, textOf } from "../../../../shared/core/json.ts";
import type { Container, Pod } from "../pod.ts";

/**
 * What a container is in a pod that an orchestrator makes.
 *
 * - `app`: it does the work. ebb starts it, and the last app or helper that ends quits the sidecars.
 * - `helper`: it ends by itself after the apps, and needs the mesh until then. ebb starts and counts it; readiness, hooks
 *   and drains are the apps'.
 * - `sidecar`: it serves the apps, or the orchestrator ends it. ebb leaves it alone, and does not count it.
 * - `untouchable`: it does the work, but its command must stay. So ebb cannot see its end, and what ends the pod is the
 *   orchestrator or the reaper.
 */
export type Role = "app" | "helper" | "sidecar" | "untouchable";

/** An orchestrator whose pods have containers that their author did not write, or that need care. */
export interface Orchestrator {
  /** Its name in messages. */
  readonly name: string;
  /** Reports whether it made the pod. */
  readonly made: (pod: Pod) => boolean;
  /** Returns what a container of such a pod is; undefined if the orchestrator says nothing about it. */
  readonly roleIn: (container: Container, pod: Pod) => Role | undefined;
  /** Whether its pods have one app, so that a container of which it says nothing is a sidecar. It may become native. */
  readonly hasOneApp?: true;
  /** Reports whether an init container needs the mesh: beside an ordinary sidecar, which starts later, it fails. */
  readonly needsMesh?: (init: Container, pod: Pod) => boolean;
  /** Whether a sidecar of its own asks the apps whether they are ready, so that they need no readinessProbe. */
  readonly probesApps?: true;
  /** The annotation, `prefix` and a container's name, by which it leaves a sidecar alone that it would stop too early. */
  readonly exemption?: { readonly prefix: string; readonly value: string };
}

/** Returns the value of a pod's label. */
export function labelOf({ metadata }: Pod, name: string): string | undefined {
  return textOf(objectOf(metadata?.labels)[name]);
}

/** Returns the value that a container's variable has in the manifest. */
export function envValueOf({ env }: Container, name: string): string | undefined {
  return env?.findLast((variable) => variable.name === name)?.value ?? undefined;
}
