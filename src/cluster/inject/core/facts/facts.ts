import type { Annotations } from "../../../../shared/sidecars/core/kinds/kind.ts";
import { isSidecar } from "../../../core/containers.ts";
import { LONGEST_READ } from "../../../core/readable.ts";
import type { ImageQuery } from "../../../image/core/lookup.ts";
import { ANNOTATIONS, APPS, VOLUME } from "../annotation-names.ts";
import type { Orchestrator } from "../orchestrators/orchestrator.ts";
import { orchestratorOf } from "../orchestrators/registry.ts";
import { type Container, freeName, type Pod } from "../pod.ts";
import type { PodAnnotations } from "../pod-annotations.ts";
import type { InjectPolicy } from "../policy.ts";
import type { ContainerFacts, DecidedRole, SeenContainer } from "./container-facts.ts";
import { pathAsked } from "./existing-hooks.ts";
import type { Former } from "./former-injection.ts";
import { type Moves, movesOf } from "./natives.ts";
import { architecturesOf } from "./other-system.ts";
import { restartsAlways } from "./restart.ts";
import { rolesOf } from "./role.ts";
import { portsOf, shownIn } from "./shown-sidecars.ts";
import { isNeverCalled, isSidecarImage } from "./sidecar-images.ts";
import { type PodSidecar, sidecarsOf } from "./sidecars.ts";
import { containerStart } from "./start.ts";

/** What is known of a pod. All concerns read it. */
export interface PodFacts {
  /** The pod, without what an earlier ebb has put there. */
  readonly pod: Pod;
  /** Its options include those of an earlier policy that it does not set itself. */
  readonly policy: InjectPolicy;
  /** What the pod's annotations of ebb say. */
  readonly requested: PodAnnotations;
  /** All annotations, but for those that are too long to be looked into. */
  readonly annotations: Annotations;
  readonly former: Former | undefined;
  readonly orchestrator: Orchestrator | undefined;
  readonly containers: readonly ContainerFacts[];
  /** Whether one of them would be no sidecar without ebb.dev/apps and ebb.dev/sidecars. */
  readonly hasOwnApp: boolean;
  /** Which containers become native sidecars, and why others do not. */
  readonly moves: Moves;
  /** Those that become native, and of which ebb does not know whether the app needs them from its start. */
  readonly strangers: readonly SeenContainer[];
  /** The sidecars that ebb knows, the native ones first. */
  readonly sidecars: readonly PodSidecar[];
  /** The TCP ports declared by containers that neither ebb nor ebb.dev/sidecars takes for sidecars. */
  readonly appPorts: readonly number[];
  /** Whether the pod is on its node's network (hostNetwork), where no port is believed. */
  readonly isOnNode: boolean;
  /** Whether containers are restarted whenever they end, as servers are: the pod's restartPolicy is Always. */
  readonly restartsAlways: boolean;
  /** The pod's grace period, in seconds. */
  readonly grace: number;
  /** The names of the volumes that ebb may add. */
  readonly volumes: Readonly<Record<"ebb" | "annotations" | "apps", string>>;
  /** The images whose commands must be looked up before it is known what containers start. */
  readonly missingImages: readonly ImageQuery[];
}

/** What the facts of a pod are taken from. */
interface FactSources {
  readonly pod: Pod;
  readonly policy: InjectPolicy;
  readonly requested: PodAnnotations;
  readonly former: Former | undefined;
}

/** Kubernetes' default terminationGracePeriodSeconds. */
const DEFAULT_GRACE = 30;

/** Collects all that is known of a pod. */
export function factsOf({ pod, policy, requested, former }: FactSources): PodFacts {
  const { spec } = pod;
  const orchestrator = orchestratorOf(pod);
  const missingImages: ImageQuery[] = [];
  const seen = spec.containers.map(seenOf);
  const roles = rolesOf(seen, { pod, orchestrator, requested });
  const rules = { orchestrator, policy, requested, former, architectures: architecturesOf(pod), missingImages };
  const containers = seen.map((one, at): ContainerFacts => {
    const decided = roles[at] as DecidedRole;
    const start = containerStart(one.container, decided.role, rules);
    return { ...one, ...decided, start };
  });
  const moves = movesOf({ pod, orchestrator, requested, containers });
  const texts = Object.entries(pod.metadata?.annotations ?? {}).filter(([, text]) => text.length <= LONGEST_READ);
  const volumes = spec.volumes ?? [];
  return {
    ...{ pod, policy, requested, former, orchestrator, containers, moves, missingImages },
    hasOwnApp: rolesOf(seen, { pod, orchestrator, requested: nobody }).some(({ role }) => role !== "sidecar"),
    strangers: [...moves.moved].filter(
      ({ sidecar, container }) => sidecar === undefined && !isNeverCalled(container.image ?? ""),
    ),
    annotations: new Map(texts),
    sidecars: sidecarsOf(pod, containers, moves.moved, requested.apps),
    appPorts: appPortsOf(containers, requested.sidecars),
    isOnNode: spec.hostNetwork === true,
    restartsAlways: restartsAlways(pod),
    grace: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE,
    volumes: {
      ebb: freeName(VOLUME, volumes),
      annotations: freeName(ANNOTATIONS, volumes),
      apps: freeName(APPS, volumes),
    },
  };
}

function seenOf(container: Container, at: number): SeenContainer {
  const { name, image } = container;
  const isKnownSidecar = isSidecar(name, image ?? undefined);
  const hasSidecarImage = isSidecarImage(image ?? "");
  const sidecar = shownIn(container);
  return { container, name, at, isKnownSidecar, hasSidecarImage, sidecar, pathAsked: pathAsked(container) };
}

const nobody = { apps: new Set<string>(), sidecars: new Set<string>(), own: new Map(), entrypoints: new Map() };

/** The most ports that `app-port` gets. */
const MAX_PORTS = 50;

function appPortsOf(containers: readonly ContainerFacts[], sidecars: ReadonlySet<string>): readonly number[] {
  const apps = containers.filter(({ name, isKnownSidecar }) => !isKnownSidecar && !sidecars.has(name));
  const numbers = apps.flatMap(({ container }) => portsOf(container));
  return [...new Set(numbers)].slice(0, MAX_PORTS);
}
