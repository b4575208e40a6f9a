import { describeTarget, type HttpTarget, parseHttpTarget, withPath } from "../../base/address.ts";
import { excerpt, type HttpAnswer } from "../../base/http-framing.ts";
import type { Annotations, PodIdentity } from "../kinds/kind.ts";
import { kindOf, type SidecarName, sidecarNames } from "../registry.ts";
import { describeNode, describePod, ownershipOf, parseNode } from "./identity.ts";
import type { Network } from "./network.ts";

// A port only suggests a proxy. The answer of its admin interface proves it, and on the node's network whose it is.

/** What a program that listens at an admin interface turned out to be. */
export type Neighbour =
  /** A proxy. */
  | {
      readonly kind: "proxy";
      readonly name: SidecarName;
      /** Its pod, as far as it names that. */
      readonly pod: PodIdentity;
      /** What in its answer names the pod, in words. */
      readonly says: string;
      /** Its pod's annotations, as far as its node carries them. */
      readonly annotations?: Annotations;
    }
  /**
   * Another program, such as an app. `problem`: it may still be a proxy, but does not allow the path that would tell.
   */
  | { readonly kind: "other"; readonly problem?: string }
  /** Nobody answers, or a program that is still starting. */
  | { readonly kind: "silent" };

const INFO = "/server_info";
const PLAIN = "envoy";

/** Returns the admin path whose answer tells to which pod a proxy of this kind belongs. To get it changes nothing. */
export function proofPath(name: SidecarName): string {
  return kindOf(name).podAt?.path ?? INFO;
}

/**
 * Tells from the answer to `proofPath` what listens there. `name` is the kind that is expected there; for an Envoy the
 * answer may show that it is another mesh's. A 5xx counts as silent, 403 as `other` with a problem.
 */
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

/** Reads from the answer to /server_info which mesh's Envoy it is, or a plain one if the node does not tell. */
function envoyOf(body: string): Neighbour | undefined {
  const node = parseNode(body);
  if (node === undefined) return undefined;
  const mesh = sidecarNames.find((name) => name !== PLAIN && kindOf(name).podOfNode?.(node) !== undefined) ?? PLAIN;
  const { podOfNode, annotationsOfNode } = kindOf(mesh);
  const annotations = annotationsOfNode?.(node);
  const proxy = { kind: "proxy", name: mesh, pod: podOfNode?.(node) ?? {}, says: describeNode(node) } as const;
  return annotations === undefined ? proxy : { ...proxy, annotations };
}

/**
 * Returns the target of a sidecar's admin interface: at the URL `admin`, or if that is undefined at its kind's usual
 * one.
 */
export function adminOf(name: SidecarName, admin: string | undefined): HttpTarget {
  return parseHttpTarget(admin ?? kindOf(name).admin) as HttpTarget;
}

/** A proxy that ebb leaves alone, because nothing proves that it is this pod's. */
export interface Stranger {
  /** The URL of its admin interface. */
  readonly admin: string;
  /** Which proof is missing, and how to give it. */
  readonly reason: string;
  /** It names another pod: so this pod has no proxy, as far as ebb can see. */
  readonly isOthers: boolean;
}

/** Whose network ebb runs in, and which pod it runs in. */
export interface Self {
  readonly network: Network;
  readonly pod: PodIdentity;
}

/**
 * Decides whether a proxy is this pod's. Returns `ours`, or a stranger with the reason why not. On the pod's own
 * network every proxy is; elsewhere it must name this pod.
 */
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
  const reason = `the proxy at ${url} may be another pod's (${why})`;
  return { admin: url, isOthers, reason: isOthers ? reason : `${reason}: ${howToProve(url, self)}` };
}

function describeMismatch(isOthers: boolean, pod: PodIdentity): string {
  if (isOthers) return `which names another pod; this pod is ${describePod(pod)}`;
  if (!hasName(pod)) return "and this pod's name is not known here";
  return `which does not name this pod, ${describePod(pod)}`;
}

function hasName({ name, namespace }: PodIdentity): boolean {
  return name !== undefined && namespace !== undefined;
}

function describeNetwork({ kind, by }: Network): string {
  return kind === "node" ? `hostNetwork, known from ${by}` : `ebb cannot tell whose network this is: ${by}`;
}

function howToProve(url: string, { network, pod }: Self): string {
  const ways = [
    `if it is this pod's, set --admin ${url}`,
    ...(network.kind === "unknown" ? ["or --host-network=false if this network is the pod's own"] : []),
    hasName(pod)
      ? "or name the pod in its node.id, as NAME.NAMESPACE"
      : "or give the pod's name and namespace by the downward API (POD_NAME and POD_NAMESPACE, or name and namespace beside --pod-annotations)",
  ];
  return ways.join(", ");
}

/** Returns the stranger for a sidecar that the user or the pod names, if another program is at its address. */
export function namedStranger(name: SidecarName, admin: HttpTarget, { reason }: Pick<Stranger, "reason">): Stranger {
  return { admin: urlOf(admin), reason: `${reason}: set --admin to the URL of this pod's ${name}`, isOthers: false };
}

/**
 * Returns the reason why a sidecar that was named without an address is left alone: no proxy of its kind answers there.
 */
export function noProxyReason(
  admin: HttpTarget,
  { kind }: Neighbour,
  { name, network }: { readonly name: SidecarName; readonly network: Network },
): Pick<Stranger, "reason"> {
  const where = describeTarget(withPath(admin, proofPath(name).split("?")[0] as string));
  const what = kind === "silent" ? `nobody answers at ${where}` : `what answers at ${where} is not one`;
  return { reason: `${name} is named without an address, and ${what} (${describeNetwork(network)})` };
}

/** Returns the stranger for a proxy that only a port suggests, if nobody, or something else, answers there. */
export function suggestedStranger(
  name: SidecarName,
  admin: HttpTarget,
  { kind, problem }: Neighbour & { problem?: string },
): Stranger {
  const where = describeTarget(withPath(admin, proofPath(name).split("?")[0] as string));
  const why = kind === "silent" ? `nobody answers at ${where}` : (problem ?? `what answers at ${where} is none`);
  const reason = `a listening port suggests ${name}, but ${why}: set --sidecar ${name}, or --admin to its URL, or --sidecar none if there is none`;
  return { admin: urlOf(admin), reason, isOthers: false };
}

/** Formats the URL of an admin interface, without secrets and without a slash at the end: `http://localhost:9901`. */
export function urlOf(admin: HttpTarget): string {
  return describeTarget(admin).replace(/\/$/, "");
}
