import type { Settings } from "../../core/cli/options.ts";
import type { ListeningPort, PortFinding } from "../../core/sidecars/detect.ts";
import type { PodFacts } from "../../core/sidecars/kinds/kind.ts";
import { identityOf } from "../../core/sidecars/ownership/identity.ts";
import { networkOf } from "../../core/sidecars/ownership/network.ts";
import type { Self, Stranger } from "../../core/sidecars/ownership/proof.ts";
import type { FoundSidecar } from "../../core/sidecars/plan.ts";
import { readIfThere } from "../file.ts";
import type { Asking } from "./ask-proxy.ts";

/** Listeners on loopback that are asked, in all. */
export const MAX_ASKED = 32;

export interface NeighbourOptions extends PodFacts {
  readonly settings: Settings<"hostNetwork" | "appPort" | "podAnnotations"> & Partial<Settings<"admin">>;
}

export interface HearContext {
  readonly signal: AbortSignal;
  /** There is no next look. */
  readonly isLast: boolean;
  /** How long what is meant to be done may take in all. */
  readonly actMs?: number | undefined;
}

export interface SettleContext {
  readonly signal: AbortSignal;
  readonly actMs?: number | undefined;
  /** Something is about to be done to them: what they have answered before proves nothing on the node's network. */
  readonly isAct: boolean;
}

/** What was found out of those that listen. */
export interface HeardProxies {
  readonly heard: readonly PortFinding[];
  readonly strangers: readonly Stranger[];
}

export interface Settled {
  readonly found: readonly FoundSidecar[];
  readonly strangers: readonly Stranger[];
}

export interface Context extends NeighbourOptions, Asking {
  readonly self: Self;
  /** But for the app's. */
  readonly listeners: readonly ListeningPort[];
}

/** Whether the network may be the node's, where other pods listen too. */
export function isShared({ self }: Context): boolean {
  return self.network.kind !== "own";
}

/** Finds out whether this network is the pod's own or may be the node's, and what this pod is called. */
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
