import type { Environment } from "../../base/environment.ts";
import { excerpt } from "../../base/http-framing.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../../base/json.ts";
import type { EnvoyNode, PodIdentity } from "../kinds/kind.ts";

/** The states of an Envoy (envoyproxy.io, api-v3/admin/v3/server_info.proto). */
const states = ["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"];

/** Parses the node in an Envoy's answer to /server_info. Returns undefined if the text is not such an answer. */
export function parseNode(body: string): EnvoyNode | undefined {
  const info = parseObject(body);
  if (info === undefined || !states.includes(String(info.state))) return undefined;
  if (typeof info.version !== "string" || !isObject(info.command_line_options)) return undefined;
  const { id, cluster, metadata } = objectOf(info.node);
  return { id: textOf(id) ?? "", cluster: textOf(cluster) ?? "", metadata: objectOf(metadata) };
}

/** Sources that tell which pod this is: variables, and the texts of files, undefined if there is no such file. */
export interface IdentitySources {
  readonly env: Environment;
  /** Files of the downward API, in the folder of its file of annotations. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  /** The files `token` and `namespace` of the pod's service account. */
  readonly token?: string | undefined;
  readonly accountNamespace?: string | undefined;
  /** /proc/self/mountinfo. */
  readonly mounts?: string | undefined;
}

/**
 * Returns which pod this is. Each part is from the first source that has it: the claims in the service account's token
 * (kubernetes.io), the downward API's files, the variables POD_NAME, POD_NAMESPACE and POD_UID, and for the namespace
 * the service account's file, for the UID the kubelet's mounts. The host's name is not used: on the node's network it
 * is the node's.
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
 * Reads the pod's UID from the mounts that the kubelet itself makes: /etc/hosts and the termination log (kubernetes
 * pkg/kubelet/kubelet_pods.go, kuberuntime). Other files of the node that are mounted may be another pod's.
 */
function uidIn(mounts: string): string | undefined {
  const own =
    /^(?:\S+ ){3}\S*\/pods\/([0-9a-f-]{32,36})\/(?:etc-hosts \/etc\/hosts|containers\/[^/ ]+\/[0-9a-f]+ \S+) /m;
  return own.exec(mounts)?.[1];
}

/** Whether a proxy is this pod's or another pod's. */
export type Ownership = "ours" | "another's" | "unknown";

/**
 * Compares the pod that a proxy names with this pod: by UID if both have one, else by name and namespace together.
 * Returns `unknown` if too little is known of either.
 */
export function ownershipOf(named: PodIdentity, self: PodIdentity): Ownership {
  if (named.uid !== undefined && self.uid !== undefined) return named.uid === self.uid ? "ours" : "another's";
  const [name, namespace] = [isSame(named.name, self.name), isSame(named.namespace, self.namespace)];
  if (name === false || namespace === false) return "another's";
  return name === true && namespace === true ? "ours" : "unknown";
}

/** Compares a part of two identities. Returns undefined if either does not have it. */
function isSame(named: string | undefined, own: string | undefined): boolean | undefined {
  return named === undefined || own === undefined ? undefined : named === own;
}

/**
 * Formats a pod as `"shop/web-0"`, or as its UID if its name is not known. Quoted, of 150 characters at most (LONGEST).
 */
export function describePod({ name, namespace = "?", uid }: PodIdentity): string {
  return excerpt(name === undefined ? `UID ${uid ?? "?"}` : `${namespace}/${name}`, LONGEST);
}

/** Formats an Envoy's node as `its node.id is "front-proxy"`, in which the ID has 150 characters at most (LONGEST). */
export function describeNode({ id }: EnvoyNode): string {
  return id === "" ? "it has no node.id" : `its node.id is ${excerpt(id, LONGEST)}`;
}

const LONGEST = 150;
