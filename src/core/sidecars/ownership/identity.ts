import type { Environment } from "../../base/environment.ts";
import { excerpt } from "../../base/http-framing.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../../base/json.ts";
import type { EnvoyNode, PodIdentity } from "../kinds/kind.ts";

/** envoyproxy.io, api-v3/admin/v3/server_info.proto. */
const states = ["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"];

/** Parses the Envoy node in a /server_info answer; undefined where it is none. */
export function parseNode(body: string): EnvoyNode | undefined {
  const info = parseObject(body);
  if (info === undefined || !states.includes(String(info.state))) return undefined;
  if (typeof info.version !== "string" || !isObject(info.command_line_options)) return undefined;
  const { id, cluster, metadata } = objectOf(info.node);
  return { id: textOf(id) ?? "", cluster: textOf(cluster) ?? "", metadata: objectOf(metadata) };
}

/** What tells which pod this is: texts of files that may not be there, and variables. */
export interface IdentitySources {
  readonly env: Environment;
  /** The downward API's files, beside that of the annotations. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  /** Of the pod's service account. */
  readonly token?: string | undefined;
  readonly accountNamespace?: string | undefined;
  /** /proc/self/mountinfo. */
  readonly mounts?: string | undefined;
}

/**
 * Tells which pod this is: by its token's claims (kubernetes.io), the downward API's files or variables, or what the kubelet has
 * mounted. Not by the host's name, which on the node's network is the node's.
 */
export function identityOf(sources: IdentitySources): PodIdentity {
  const { env, mounts = "" } = sources;
  const { pod, namespace } = claimsOf(sources.token);
  return {
    name: firstOf(textOf(pod.name), sources.name, env.POD_NAME),
    namespace: firstOf(textOf(namespace), sources.namespace, env.POD_NAMESPACE, sources.accountNamespace),
    uid: firstOf(textOf(pod.uid), sources.uid, env.POD_UID, uidIn(mounts)),
  };
}

function firstOf(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.map((text) => text?.trim()).find((text) => text !== undefined && text !== "");
}

function claimsOf(token = ""): { readonly pod: JsonObject; readonly namespace: unknown } {
  const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
  const kubernetes = objectOf(parseObject(payload)?.["kubernetes.io"]);
  return { pod: objectOf(kubernetes.pod), namespace: kubernetes.namespace };
}

/**
 * Reads the pod's UID from the kubelet's own mounts: /etc/hosts and the termination log (kubernetes
 * pkg/kubelet/kubelet_pods.go, kuberuntime). Other files of the node in the pod may be another pod's.
 */
function uidIn(mounts: string): string | undefined {
  const own =
    /^(?:\S+ ){3}\S*\/pods\/([0-9a-f-]{32,36})\/(?:etc-hosts \/etc\/hosts|containers\/[^/ ]+\/[0-9a-f]+ \S+) /m;
  return own.exec(mounts)?.[1];
}

export type Ownership = "ours" | "another's" | "unknown";

/** Tells whether the pod that a proxy names is this one: by UID, or by name and namespace together. */
export function ownershipOf(named: PodIdentity, self: PodIdentity): Ownership {
  if (named.uid !== undefined && self.uid !== undefined) return named.uid === self.uid ? "ours" : "another's";
  const [name, namespace] = [isSame(named.name, self.name), isSame(named.namespace, self.namespace)];
  if (name === false || namespace === false) return "another's";
  return name === true && namespace === true ? "ours" : "unknown";
}

/** Compares two parts of an identity; undefined if one is not known. */
function isSame(named: string | undefined, own: string | undefined): boolean | undefined {
  return named === undefined || own === undefined ? undefined : named === own;
}

/** Formats `"shop/web-0"`, or the UID where the name is not known. */
export function describePod({ name, namespace = "?", uid }: PodIdentity): string {
  return excerpt(name === undefined ? `UID ${uid ?? "?"}` : `${namespace}/${name}`, LONGEST);
}

/** Formats `its node.id is "front-proxy"`. */
export function describeNode({ id }: EnvoyNode): string {
  return id === "" ? "it has no node.id" : `its node.id is ${excerpt(id, LONGEST)}`;
}

const LONGEST = 150;
