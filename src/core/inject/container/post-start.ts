import { detect } from "../../sidecars/detect.ts";
import type { Annotations } from "../../sidecars/kinds/kind.ts";
import { foundIn } from "../../sidecars/plan.ts";
import { isProxy, kindOf, type SidecarName, sidecarNames } from "../../sidecars/registry.ts";
import type { Remark } from "../pod.ts";
import type { Chosen } from "./choose.ts";
import { choiceIn, type PodSidecars, variablesIn } from "./sidecars.ts";

/**
 * How a postStart hook holds up the sidecars that ebb waits for. The kubelet starts a container only when the postStart
 * hook of the one before it has ended: if that hook waits for the app, and ebb for a sidecar that comes later, neither
 * ends.
 */
export type Delay =
  /** This container, a sidecar, comes later in the pod. */
  | { readonly kind: "later"; readonly container: string }
  /** A sidecar that the manifest does not show may come later. */
  | { readonly kind: "unknown" };

/** How long ebb waits at most where a sidecar may come later. */
const AT_MOST = "10s";

/**
 * Returns how a container's postStart hook holds up what ebb waits for; undefined if it does not, because each sidecar is
 * native or stands before the container. `options`: those that name the sidecars.
 */
export function delayOf(
  { at, container }: Chosen,
  pod: PodSidecars,
  options: ReadonlyMap<string, string>,
): Delay | undefined {
  if (container.lifecycle?.postStart == null) return undefined;
  const { sidecars, annotations, isOnNode } = pod;
  const choice = choiceIn(container, options);
  if (choice === undefined) return undefined;
  const isNamed = (name: SidecarName) => choice.named.some((one) => one.name === name);
  const later = sidecars.find(
    ({ at: place = -1, name, problem }) =>
      place > at && isAwaited(name) && (isNamed(name) || (choice.isAuto && problem === undefined)),
  );
  if (later !== undefined) return { kind: "later", container: later.container };
  const env = variablesIn(container);
  const found = choice.isAuto ? detect({ env, annotations, atAdmin: undefined, byPort: [] }).found : [];
  const isShown = (name: SidecarName) => sidecars.some((one) => one.name === name);
  const mayCome = [...choice.named, ...found].some(
    ({ name }) => isAwaited(name) && !isShown(name) && !isNative(name, annotations),
  );
  const hasProxy = sidecarNames.some((name) => isProxy(name) && (isShown(name) || isNative(name, annotations)));
  return mayCome || (choice.isAuto && !hasProxy && !isOnNode) ? { kind: "unknown" } : undefined;
}

function isAwaited(name: SidecarName): boolean {
  return kindOf(name).ready !== undefined;
}

/** Reports whether annotations say that a sidecar is native. */
function isNative(name: SidecarName, annotations: Annotations): boolean {
  return foundIn({ env: {}, annotations }, [name]).some((one) => one.isNative);
}

/** Returns the options by which `ebb run` does not wait for what the hook holds up, or not for long. */
export function delayOptions(delay: Delay | undefined): readonly (readonly [string, string])[] {
  if (delay === undefined) return [];
  if (delay.kind === "later") return [["no-wait", "true"]];
  return [
    ["wait-timeout", AT_MOST],
    ["on-wait-timeout", "start"],
  ];
}

/**
 * Returns the warning for a container whose hook holds up what ebb waits for; an empty list if the user says how long
 * ebb waits. `isGiven`: whether the user says an option.
 */
export function remarkOnDelay(
  { at }: Chosen,
  delay: Delay | undefined,
  isGiven: (flag: string) => boolean,
): readonly Remark[] {
  if (delay === undefined || delayOptions(delay).every(([flag]) => isGiven(flag)) || isGiven("no-wait")) return [];
  const message =
    delay.kind === "later"
      ? `"${delay.container}" starts only when this hook has ended, so ebb starts the app without waiting for it: put "${delay.container}" before this container, or make it native`
      : `a sidecar that is injected after this container starts only when this hook has ended, so ebb waits ${AT_MOST} at most, and then starts the app: name a native sidecar with ebb.dev/native, or say ebb.dev/sidecar: none if there is none`;
  return [{ field: `spec.containers[${at}].lifecycle.postStart`, message }];
}
