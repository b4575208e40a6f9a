import { describeTarget, type HttpTarget, parseHttpTarget, withPath } from "../../base/address.ts";
import { excerpt, type HttpAnswer } from "../../base/http-framing.ts";
import type { Annotations, PodIdentity } from "../kinds/kind.ts";
import { kindOf, type SidecarName, sidecarNames } from "../registry.ts";
import { describeNode, describePod, ownershipOf, parseNode } from "./identity.ts";
import type { Network } from "./network.ts";

// A port suggests a proxy; what its admin interface answers proves it, and on the node's network whose it is.

/** What somebody at an admin interface turned out to be. */
export type Neighbour =
  /** A proxy of this kind, which names this pod as far as it does. */
  | {
      readonly kind: "proxy";
      readonly name: SidecarName;
      readonly pod: PodIdentity;
      readonly says: string;
      /** Of its pod, as far as it carries them. */
      readonly annotations?: Annotations;
    }
  /** Something else: an app. `problem`: it may be one that does not say it. */
  | { readonly kind: "other"; readonly problem?: string }
  /** Nobody, or somebody who starts. */
  | { readonly kind: "silent" };

const INFO = "/server_info";
const PLAIN = "envoy";

/** Returns the admin path that tells whose proxy of this kind it is. Reading it changes nothing. */
export function proofPath(name: SidecarName): string {
  return kindOf(name).podAt?.path ?? INFO;
}

/** Tells from a proxy's answer whose proxy it is: this kind's with its pod, another one's, or unknown (`silent`). */
export function judgeNeighbour(name: SidecarName, { status, body }: HttpAnswer): Neighbour {
  const path = proofPath(name).split("?")[0];
  if (status >= 500) return { kind: "silent" };
  if (status === 403) return { kind: "other", problem: `it does not allow ${path} (HTTP 403 ${excerpt(body)})` };
  if (status !== 200) return { kind: "other" };
  const { podAt } = kindOf(name);
  const pod = podAt?.read(body);
  if (pod !== undefined) return { kind: "proxy", name, pod, says: `its ${path} names ${describePod(pod)}` };
  return (podAt === undefined ? envoyOf(body) : undefined) ?? { kind: "other" };
}

/** Reads from the node of /server_info which mesh's Envoy it is; a plain one if the node does not tell. */
function envoyOf(body: string): Neighbour | undefined {
  const node = parseNode(body);
  if (node === undefined) return undefined;
  const mesh = sidecarNames.find((name) => name !== PLAIN && kindOf(name).podOfNode?.(node) !== undefined) ?? PLAIN;
  const { podOfNode, annotationsOfNode } = kindOf(mesh);
  const annotations = annotationsOfNode?.(node);
  const proxy = { kind: "proxy", name: mesh, pod: podOfNode?.(node) ?? {}, says: describeNode(node) } as const;
  return annotations === undefined ? proxy : { ...proxy, annotations };
}

/** Returns the admin interface of this kind: `admin`, or the usual one. */
export function adminOf(name: SidecarName, admin: string | undefined): HttpTarget {
  return parseHttpTarget(admin ?? kindOf(name).admin) as HttpTarget;
}

/** A proxy that nothing proves to be this pod's. */
export interface Stranger {
  readonly admin: string;
  /** Which proof is missing, and how to give it. */
  readonly reason: string;
  /** It names another pod: so this pod has none, as far as is seen. */
  readonly isOthers: boolean;
}

export interface Self {
  readonly network: Network;
  readonly pod: PodIdentity;
}

/** Whether a proxy is this pod's; where it is not, why not. In a network of the pod's own all are. */
export function judgeOwner(
  admin: HttpTarget,
  { pod, says }: Extract<Neighbour, { kind: "proxy" }>,
  self: Self,
): "ours" | Stranger {
  if (self.network.kind === "own") return "ours";
  const owner = ownershipOf(pod, self.pod);
  if (owner === "ours") return "ours";
  const isOthers = owner === "another's";
  const url = urlOf(admin);
  const why = `${describeNetwork(self.network)}; ${says}, ${describeMismatch(isOthers, self.pod)}`;
  const reason = `the proxy at ${url} is not proved to be this pod's (${why})`;
  return { admin: url, isOthers, reason: isOthers ? reason : `${reason}: ${howToProve(url, self)}` };
}

function describeMismatch(isOthers: boolean, pod: PodIdentity): string {
  if (isOthers) return `which is another pod: this is ${describePod(pod)}`;
  if (!hasName(pod)) return "and this pod's name is not known here";
  return `which does not name this pod, ${describePod(pod)}`;
}

function hasName({ name, namespace }: PodIdentity): boolean {
  return name !== undefined && namespace !== undefined;
}

function describeNetwork({ kind, by }: Network): string {
  return kind === "node" ? `hostNetwork, by ${by}` : `nothing tells whose network this is: ${by}`;
}

function howToProve(url: string, { network, pod }: Self): string {
  const ways = [
    `set --admin ${url} if it is`,
    ...(network.kind === "unknown" ? ["or --host-network=false if this network is the pod's own"] : []),
    hasName(pod)
      ? "or name the pod in its node.id, as NAME.NAMESPACE"
      : "or give the pod's name and namespace by the downward API (POD_NAME and POD_NAMESPACE, or name and namespace beside --pod-annotations)",
  ];
  return ways.join(", ");
}

/** Returns why a sidecar that the user or pod names is left alone: another program is at its address. */
export function namedStranger(name: SidecarName, admin: HttpTarget, { reason }: Pick<Stranger, "reason">): Stranger {
  return { admin: urlOf(admin), reason: `${reason}: set --admin where this pod's ${name} is`, isOthers: false };
}

/** Says that no proxy of this pod answers there. */
export function noProxyReason(
  admin: HttpTarget,
  { kind }: Neighbour,
  { name, network }: { readonly name: SidecarName; readonly network: Network },
): Pick<Stranger, "reason"> {
  const where = describeTarget(withPath(admin, proofPath(name).split("?")[0] as string));
  const what = kind === "silent" ? `nobody answers at ${where}` : `what answers at ${where} is none`;
  return { reason: `${name} is named without an address, and ${what} (${describeNetwork(network)})` };
}

/** Why a proxy that a port alone suggests is left alone. */
export function suggestedStranger(
  name: SidecarName,
  admin: HttpTarget,
  { kind, problem }: Neighbour & { problem?: string },
): Stranger {
  const where = describeTarget(withPath(admin, proofPath(name).split("?")[0] as string));
  const why = kind === "silent" ? `nobody answers at ${where}` : (problem ?? `what answers at ${where} is none`);
  const reason = `only a port suggests ${name} here, and ${why}: set --sidecar ${name}, or --admin where it is`;
  return { admin: urlOf(admin), reason, isOthers: false };
}

/** Formats `http://localhost:9901`. */
export function urlOf(admin: HttpTarget): string {
  return describeTarget(admin).replace(/\/$/, "");
}
