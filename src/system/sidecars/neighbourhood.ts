import type { Settings } from "../../core/cli/options.ts";
import type { ListeningPort, PortFinding } from "../../core/sidecars/detect.ts";
import type { PodFacts } from "../../core/sidecars/kinds/kind.ts";
import { identityOf } from "../../core/sidecars/ownership/identity.ts";
import { networkOf } from "../../core/sidecars/ownership/network.ts";
import type { Self, Stranger } from "../../core/sidecars/ownership/proof.ts";
import type { FoundSidecar } from "../../core/sidecars/plan.ts";
import { readIfThere } from "../file.ts";
import type { Asking } from "./ask-proxy.ts";

/** The most listeners on loopback that are asked. */
export const MAX_ASKED = 32;

/** What is known before anybody is asked. */
export interface NeighbourOptions extends PodFacts {
  readonly settings: Settings<"hostNetwork" | "appPort" | "podAnnotations"> & Partial<Settings<"admin">>;
}

/** How to look for proxies among those that listen. */
export interface HearContext {
  readonly signal: AbortSignal;
  /** Whether there is no later look: those that are asked then get more time. */
  readonly isLast: boolean;
  /** How many ms the work that follows has in all. */
  readonly actMs?: number | undefined;
}

/** How to check sidecars that were found. */
export interface SettleContext {
  readonly signal: AbortSignal;
  /** How many ms the work that follows has in all. */
  readonly actMs?: number | undefined;
  /** Whether something is about to be done to them: on the node's network their earlier answers then prove nothing. */
  readonly isAct: boolean;
}

/** The proxies among those that listen. */
export interface HeardProxies {
  /** Those that are this pod's; on its own network also those whose usual port listens but does not answer yet. */
  readonly heard: readonly PortFinding[];
  /** Those that nothing proves to be this pod's. */
  readonly strangers: readonly Stranger[];
}

/** The outcome of a check. */
export interface Settled {
  /** The sidecars that are this pod's, with their admin interfaces where they are now. */
  readonly found: readonly FoundSidecar[];
  /** Those that were dropped because nothing proves that they are this pod's. */
  readonly strangers: readonly Stranger[];
}

/** Everything that one look or check needs. */
export interface Context extends NeighbourOptions, Asking {
  readonly self: Self;
  /** All that listen, without the app's declared ports. */
  readonly listeners: readonly ListeningPort[];
}

/** Reports whether the network may be the node's, where other pods listen too. */
export function isShared({ self }: Context): boolean {
  return self.network.kind !== "own";
}

/**
 * Determines whether this network is the pod's own or may be the node's and, unless it is the pod's own, the pod's
 * name, namespace and UID. Reads small files: /proc/self/mountinfo, /etc/hosts, the downward API's and the service
 * account's.
 */
export function readSelf({ settings, env }: NeighbourOptions, listeners: readonly ListeningPort[]): Self {
  const mounts = readIfThere("/proc/self/mountinfo");
  const hosts = readIfThere("/etc/hosts");
  const listening = new Set(listeners.map(({ port }) => port));
  const network = networkOf({ told: settings.hostNetwork, env, hosts, mounts, listening });
  if (network.kind === "own") return { network, pod: {} };
  const podinfo = settings.podAnnotations.slice(0, settings.podAnnotations.lastIndexOf("/") + 1);
  const account = "/var/run/secrets/kubernetes.io/serviceaccount/";
  const pod = identityOf({
    env,
    mounts,
    name: readIfThere(`${podinfo}name`),
    namespace: readIfThere(`${podinfo}namespace`),
    uid: readIfThere(`${podinfo}uid`),
    token: readIfThere(`${account}token`),
    accountNamespace: readIfThere(`${account}namespace`),
  });
  return { network, pod };
}
