import { describeTarget, type HttpTarget, parseHttpTarget, withPath } from "../../core/address.ts";
import { isObject, objectOf, parseObject, textOf } from "../../core/json.ts";
import { excerpt, type HttpAnswer } from "../../http/core/http-framing.ts";
import type { Annotations, EnvoyNode, OwnPod } from "./kinds/kind.ts";
import { foundIn } from "./plan.ts";
import { kindOf, type SidecarName, sidecarNames } from "./registry.ts";

/** A proxy that was found by a port that listens, or by the admin interface that the user names. */
export interface PortFinding {
  readonly name: SidecarName;
  /** What showed it, for the log: `port 15021`, `--admin`. */
  readonly by: string;
  /** The URL of its admin interface, if that is not at its usual place. */
  readonly admin?: string;
  /** Its pod's annotations, as far as its Envoy node carries them. */
  readonly annotations?: Annotations;
  /** Its admin interface does not answer yet: it may be waited for. Before it is drained or quit, ebb asks again. */
  readonly isSuggested?: true;
}

/** A port that listens, and the proxy that usually has it. */
export interface SuggestedProxy {
  readonly name: SidecarName;
  readonly port: number;
}

/** The Envoy of no mesh. */
export const PLAIN = "envoy";

/** Reports whether a port is usual for a known proxy. */
export function isUsualPort(port: number): boolean {
  for (const name of sidecarNames) if (kindOf(name).ports.includes(port)) return true;
  return false;
}

/** Returns the ports among these that are usual for a known proxy, without those that containers of the app declare. */
export function usualPorts(listening: readonly number[], appPorts: readonly number[]): ReadonlySet<number> {
  const usual = new Set<number>();
  for (const port of listening) if (isUsualPort(port) && !appPorts.includes(port)) usual.add(port);
  return usual;
}

/**
 * Returns the proxies that have a usual port that listens, each with its first such port; a plain Envoy with each.
 * They may be other programs.
 */
export function suggestedBy(listening: ReadonlySet<number>): readonly SuggestedProxy[] {
  const suggested: SuggestedProxy[] = [];
  if (listening.size === 0) return suggested;
  const admins = new Set<string>();
  for (const name of sidecarNames) {
    const ports = kindOf(name).ports.filter((port) => listening.has(port));
    if (name !== PLAIN && ports.length > 0) admins.add(kindOf(name).admin);
    for (const port of name === PLAIN ? ports : ports.slice(0, 1)) suggested.push({ name, port });
  }
  // a mesh's Envoy may have its admin interface on a port that is usual for a plain one
  return suggested.filter(({ name, port }) => name !== PLAIN || !admins.has(`http://localhost:${port}`));
}

/** Returns the admin interface of a suggested proxy: a plain Envoy's is at the port itself. */
export function adminOf({ name, port }: SuggestedProxy, pod: OwnPod): HttpTarget {
  const moved = foundIn(pod, [name])[0]?.adjustment?.admin ?? kindOf(name).admin;
  return parseHttpTarget(name === PLAIN ? `http://localhost:${port}` : moved) as HttpTarget;
}

/** What a program that listens at an admin interface turned out to be. */
export type PortIdentity =
  | { readonly kind: "proxy"; readonly name: SidecarName; readonly annotations?: Annotations }
  /** Another program, such as an app. `problem`: it may be a proxy, but does not allow the path that would tell. */
  | { readonly kind: "other"; readonly problem?: string }
  /** The connection was refused, or there was no answer in time. */
  | { readonly kind: "silent" };

/** Returns the admin path whose answer shows a proxy of this kind. To get it changes nothing. */
export function identityPath(name: SidecarName): string {
  return kindOf(name).identity?.path ?? "/server_info";
}

/**
 * Tells from the answer to `identityPath` what listens there. `name` is the kind that is expected there; the node of an
 * Envoy may show that it is another mesh's, or a plain one.
 */
export function identify(name: SidecarName, { status, body }: HttpAnswer): PortIdentity {
  const { identity } = kindOf(name);
  if (status === 403) return { kind: "other", problem: `does not allow it (HTTP 403 ${excerpt(body)})` };
  if (status !== 200) return { kind: "other" };
  if (identity !== undefined) return identity.isShownBy(body) ? { kind: "proxy", name } : { kind: "other" };
  const node = parseNode(body);
  if (node === undefined) return { kind: "other" };
  const mesh = sidecarNames.find((one) => kindOf(one).isNode?.(node) === true) ?? PLAIN;
  const annotations = kindOf(mesh).annotationsOfNode?.(node);
  return { kind: "proxy", name: mesh, ...(annotations === undefined ? {} : { annotations }) };
}

/** The states of an Envoy (envoyproxy.io, api-v3/admin/v3/server_info.proto). */
const states = ["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"];

/** Parses the node in an Envoy's answer to /server_info. Returns undefined if the text is not such an answer. */
function parseNode(body: string): EnvoyNode | undefined {
  const info = parseObject(body);
  if (info === undefined || !states.includes(String(info.state))) return undefined;
  if (typeof info.version !== "string" || !isObject(info.command_line_options)) return undefined;
  const { id, metadata } = objectOf(info.node);
  return { id: textOf(id) ?? "", metadata: objectOf(metadata) };
}

/**
 * Returns what was found at a suggested proxy's admin interface; undefined if it is another program or silent. `names`
 * are all that are suggested. A mesh's agent wins over an Envoy's node that does not tell its mesh.
 */
export function findingOf(
  { name, port }: SuggestedProxy,
  admin: HttpTarget,
  identity: Extract<PortIdentity, { kind: "proxy" }>,
  names: readonly SidecarName[],
): PortFinding {
  const { kind: _, name: shown, ...rest } = identity;
  const by = `port ${port}`;
  const isAgents = !isPortOf(admin, port);
  const isAnothers = shown !== PLAIN && names.includes(shown); // that mesh's own port tells more
  const one = shown === name || isAgents || isAnothers ? name : shown;
  const isUsual = describeTarget(admin).startsWith(`${kindOf(one).admin}/`);
  return { name: one, by, ...rest, ...(isUsual || isAgents ? {} : { admin: `http://localhost:${port}` }) };
}

/** What tells of a mesh besides its admin interface. */
interface MeshSigns {
  readonly listening: ReadonlySet<number>;
  /** The proxies that the pod's annotations name. */
  readonly annotated: readonly SidecarName[];
}

/**
 * Returns whose admin interface it is that the user names: that of the mesh that its node shows, or at whose usual port
 * it is while an annotation or another port tells of that mesh; else a plain Envoy's. `by` is the option or variable
 * that names it.
 */
export function findingAt(admin: HttpTarget, by: string, identity: PortIdentity, signs: MeshSigns): PortFinding {
  if (identity.kind === "proxy" && identity.name !== PLAIN) {
    const { kind: _, ...shown } = identity;
    return { ...shown, by };
  }
  const isEnvoy = identity.kind === "proxy";
  const name = sidecarNames.find((one) => isOwner(one, admin, { isEnvoy, ...signs })) ?? PLAIN;
  return { name, by, ...(identity.kind === "silent" ? { isSuggested: true } : {}) };
}

function isOwner(
  name: SidecarName,
  admin: HttpTarget,
  { isEnvoy, listening, annotated }: MeshSigns & { readonly isEnvoy: boolean },
): boolean {
  if (!isAtUsualPort(name, admin)) return false;
  const others = kindOf(name).ports.filter((port) => !isPortOf(admin, port));
  if (others.length === 0) return !isEnvoy;
  return annotated.includes(name) || others.some((port) => listening.has(port));
}

/** Reports whether an admin interface is where that of a mesh's Envoy usually is: it may be a plain Envoy's too. */
export function isSharedAdmin(admin: HttpTarget): boolean {
  return sidecarNames.some((name) => kindOf(name).drainPath !== undefined && isAtUsualPort(name, admin));
}

/** Reports whether an admin interface is at the usual port of this mesh's proxy. */
function isAtUsualPort(name: SidecarName, { address }: HttpTarget): boolean {
  const { role, admin } = kindOf(name);
  return role === "proxy" && name !== PLAIN && address.kind === "tcp" && admin.endsWith(`:${address.port}`);
}

/** Reports whether a target is on this TCP port. */
export function isPortOf({ address }: HttpTarget, port: number): boolean {
  return address.kind === "tcp" && address.port === port;
}

/** Returns why a suggested proxy is left alone, and what to set: it does not answer, or not to `identityPath`. */
export function doubtOf(
  suggested: SuggestedProxy,
  admin: HttpTarget,
  identity: Exclude<PortIdentity, { kind: "proxy" }>,
): string {
  const where = describeTarget(withPath(admin, identityPath(suggested.name)));
  const name = namesOf(suggested);
  const why = "problem" in identity ? `${where} ${identity.problem}` : `${where} does not answer`;
  return `port ${suggested.port} suggests ${name}, but ${why}: set --sidecar ${name}, or --admin to its URL, or --sidecar none if there is none`;
}

/** Returns whose a port may be, for `--sidecar`: `istio`; `istio or envoy` if they share the port. */
export function namesOf({ name, port }: SuggestedProxy): string {
  const { drainPath, admin } = kindOf(name);
  const isShared = name !== PLAIN && drainPath !== undefined && admin.endsWith(`:${port}`);
  return isShared ? `${name} or ${PLAIN}` : name;
}
