import type { Annotations } from "../../../../shared/sidecars/core/kinds/kind.ts";
import { foundIn } from "../../../../shared/sidecars/core/plan.ts";
import { isProxy, kindOf, type SidecarName, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import type { PodFacts } from "../facts/facts.ts";
import { showsWhere } from "./awaited.ts";
import { choiceIn, type WithSidecars } from "./sidecar-options.ts";

/**
 * How a postStart hook holds up the sidecars that ebb waits for. The kubelet starts a container only when the postStart
 * hook of the one before it has ended: if that hook waits for the app, and ebb for a sidecar that comes later, neither
 * ends.
 */
type Delay =
  /** This container, a sidecar, comes later in the pod. */
  | { readonly kind: "later"; readonly container: string }
  /** A sidecar that the manifest does not show may come later. */
  | { readonly kind: "unknown" };

/** How long ebb waits at most where a sidecar may come later. */
export const AT_MOST = "10s";

/** A container, also with the options by which `ebb run` does not wait for what its hook holds up, or not for long. */
export interface WithDelay extends WithSidecars {
  readonly delay: Delay | undefined;
}

export function withDelay(app: WithSidecars, facts: PodFacts): WithDelay {
  const delay = delayOf(app, facts);
  return { ...app, delay, options: new Map([...delayOptions(delay), ...app.options]) };
}

/**
 * Returns how a container's postStart hook holds up what ebb waits for; undefined if it does not, because each sidecar is
 * native or stands before the container.
 */
function delayOf(
  { at, container, start, evidence: { env, detected }, options }: WithSidecars,
  { sidecars, annotations, isOnNode }: PodFacts,
): Delay | undefined {
  if (start.kind === "unwrapped" || container.lifecycle?.postStart == null) return undefined;
  const choice = choiceIn(env, options);
  if (choice === undefined) return undefined;
  const isNamed = (name: SidecarName) => choice.named.some((one) => one.name === name);
  const later = sidecars.find(
    (one) =>
      (one.at ?? -1) > at &&
      isAwaited(one.name, annotations) &&
      (isNamed(one.name) || (choice.isAuto && showsWhere(one))),
  );
  if (later !== undefined) return { kind: "later", container: later.container };
  const found = choice.isAuto ? detected.found : [];
  const isShown = (name: SidecarName) => sidecars.some((one) => one.name === name);
  const mayCome = [...choice.named, ...found].some(
    ({ name }) => isAwaited(name, annotations) && !isShown(name) && !isNative(name, annotations),
  );
  const hasProxy = sidecarNames.some((name) => isProxy(name) && (isShown(name) || isNative(name, annotations)));
  return mayCome || (choice.isAuto && !hasProxy && !isOnNode) ? { kind: "unknown" } : undefined;
}

function isAwaited(name: SidecarName, annotations: Annotations): boolean {
  if (kindOf(name).ready !== undefined) return true;
  return foundIn({ env: {}, annotations }, [name]).some(({ adjustment }) => adjustment?.ready !== undefined);
}

/** Reports whether annotations say that a sidecar is native. */
function isNative(name: SidecarName, annotations: Annotations): boolean {
  return foundIn({ env: {}, annotations }, [name]).some((one) => one.isNative);
}

export function delayOptions(delay: Delay | undefined): readonly (readonly [string, string])[] {
  if (delay === undefined) return [];
  if (delay.kind === "later") return [["no-wait", "true"]];
  return [
    ["wait-timeout", AT_MOST],
    ["on-wait-timeout", "start"],
  ];
}
