import { type HttpTarget, parseHttpTarget } from "../../core/base/address.ts";
import { type ListeningPort, type PortFinding, suggestedBy, withNodeAnnotations } from "../../core/sidecars/detect.ts";
import {
  adminOf,
  judgeOwner,
  type Neighbour,
  namedStranger,
  noProxyReason,
  type Self,
  type Stranger,
  suggestedStranger,
  urlOf,
} from "../../core/sidecars/ownership/proof.ts";
import { type FoundSidecar, foundIn, moveAdmin, quitAtAdmin } from "../../core/sidecars/plan.ts";
import { kindOf, type SidecarName } from "../../core/sidecars/registry.ts";
import { askProxy } from "./ask-proxy.ts";
import {
  type Context,
  type HearContext,
  type HeardProxies,
  isShared,
  MAX_ASKED,
  type NeighbourOptions,
  readSelf,
  type SettleContext,
  type Settled,
} from "./neighbourhood.ts";

// Loaded if neither annotations, variables nor the user name the proxy. Each listener is asked by one small GET.
/** The least time for an answer if there is no later look: a busy node is slow. */
const PATIENCE_MS = 2000;
const PLAIN = "envoy";

/** A client of those that listen in this pod's network. */
export interface Neighbours {
  /** Resolves with the proxies among those that listen. Asks nobody a second time who has answered. */
  hear(listeners: readonly ListeningPort[], context: HearContext): Promise<HeardProxies>;
  /**
   * Asks whose the sidecars are that were found, and looks for admin interfaces that are elsewhere. Drops what is not
   * proved.
   */
  settle(found: readonly FoundSidecar[], listeners: readonly ListeningPort[], context: SettleContext): Promise<Settled>;
}

/** Creates a client that asks those that listen in this pod's network whether they are proxies, and of which pod. */
export function createNeighbours(options: NeighbourOptions): Neighbours {
  let known: Self | undefined;
  const context = (listeners: readonly ListeningPort[], signal: AbortSignal, isLast: boolean): Context => {
    known ??= readSelf(options, listeners);
    const appPorts = new Set(options.settings.appPort);
    const others = listeners.filter(({ port }) => !appPorts.has(port));
    return { ...options, self: known, appPorts, listeners: others, isLast, signal };
  };
  return {
    hear: (listeners, { signal, isLast, actMs }) => {
      const first = context(listeners, signal, false);
      return hear(isLast ? { ...first, patienceMs: patienceOf(actMs) } : first);
    },
    settle: (found, listeners, { signal, isAct, actMs }) => {
      const last = { ...context(listeners, signal, true), ...(isAct ? { patienceMs: patienceOf(actMs) } : {}) };
      const isAsked = isAct && isShared(last);
      return settle(found, isAsked ? { ...last, since: performance.now() } : last);
    },
  };
}

/** Returns the ms that a proxy has to say whose it is: most of the time (`actMs`) is left for what is to be done. */
function patienceOf(actMs = 0): number {
  return Math.max(PATIENCE_MS, actMs / 4);
}

async function hear(context: Context): Promise<HeardProxies> {
  const ports = new Set(context.listeners.map(({ port }) => port));
  const suggested = suggestedBy(ports);
  const names = suggested.map(({ name }) => name);
  const all = await Promise.all(suggested.map((one) => hearOne(one, names, context)));
  const heard = all.filter((one) => one !== undefined && "by" in one) as readonly PortFinding[];
  const strangers = all.filter((one) => one !== undefined && "reason" in one) as readonly Stranger[];
  if (heard.length > 0) return { heard, strangers };
  const known = new Set(suggested.flatMap(({ name }) => portOf(adminIn(name, context)) ?? []));
  const others = await discover({
    ...context,
    listeners: context.listeners.filter(({ port }) => !known.has(port)),
  });
  return { heard: others.heard, strangers: [...strangers, ...others.strangers] };
}

/** Asks at the admin interface of the proxy that a port suggests. Returns undefined if there is no proxy. */
async function hearOne(
  { name, port }: { readonly name: SidecarName; readonly port: number },
  names: readonly SidecarName[],
  context: Context,
): Promise<PortFinding | Stranger | undefined> {
  const admin = adminIn(name, context);
  const neighbour = await askProxy(name, admin, context);
  const isOwn = !isShared(context);
  if (neighbour.kind === "silent") return isOwn ? { name, by: `port ${port}`, isSuggested: true } : undefined;
  if (neighbour.kind === "other")
    return neighbour.problem === undefined ? undefined : suggestedStranger(name, admin, neighbour);
  const owner = judgeOwner(admin, neighbour, context.self);
  if (owner !== "ours") return owner;
  const by = isOwn ? `port ${port}` : `port ${port}, which names this pod`;
  // a mesh's Envoy may be on the port that is usual for a plain one
  const told = annotationsOf(neighbour);
  if (name !== PLAIN || neighbour.name === PLAIN || names.includes(neighbour.name)) return { name, by, ...told };
  return { name: neighbour.name, by, admin: urlOf(admin), ...told };
}

function annotationsOf({ annotations }: Extract<Neighbour, { kind: "proxy" }>): Pick<PortFinding, "annotations"> {
  return annotations === undefined ? {} : { annotations };
}

function adminIn(name: SidecarName, context: Context): HttpTarget {
  return adminOf(name, foundIn(context, [name])[0]?.adjustment?.admin);
}

function portOf({ address }: HttpTarget): number | undefined {
  return address.kind === "tcp" ? address.port : undefined;
}

/**
 * Asks all listeners on loopback, up to `MAX_ASKED`, whether they are Envoy. On a network that may be the node's, with
 * many others, it asks only if ebb knows its pod.
 */
async function discover(context: Context): Promise<HeardProxies> {
  const { self, listeners } = context;
  const heard: PortFinding[] = [];
  const strangers: Stranger[] = [];
  if (isShared(context) && Object.values(self.pod).every((part) => part === undefined)) return { heard, strangers };
  const admins = [...new Set(listeners.flatMap(adminAt))].slice(0, MAX_ASKED);
  const asked = await Promise.all(
    admins.map(async (url) => {
      const admin = parseHttpTarget(url) as HttpTarget;
      return { url, admin, neighbour: await askProxy(PLAIN, admin, context) };
    }),
  );
  for (const { url, admin, neighbour } of asked) {
    if (neighbour.kind !== "proxy") continue;
    const owner = judgeOwner(admin, neighbour, self);
    const by = `/server_info at ${url}`;
    if (owner === "ours") heard.push({ name: neighbour.name, by, admin: url, ...annotationsOf(neighbour) });
    else strangers.push(owner);
  }
  return { heard, strangers };
}

function adminAt({ loopback, port }: ListeningPort): readonly string[] {
  if (loopback === undefined) return [];
  return [`http://${loopback === "::1" ? "[::1]" : loopback}:${port}`];
}

async function settle(found: readonly FoundSidecar[], context: Context): Promise<Settled> {
  const listening = new Set(context.listeners.map(({ port }) => port));
  const strangers: Stranger[] = [];
  const settled: FoundSidecar[] = [];
  for (const one of found) {
    const outcome = await settleOne(one, listening, context);
    if ("reason" in outcome) strangers.push(outcome);
    else settled.push(outcome);
  }
  return { found: settled, strangers };
}

async function settleOne(
  found: FoundSidecar,
  listening: ReadonlySet<number>,
  context: Context,
): Promise<FoundSidecar | Stranger> {
  if (isInDoubt(found, context)) return await settleShared(found, listening, context);
  const { isSuggested, ...one } = found;
  const admin = adminOf(one.name, one.adjustment?.admin);
  if (isSuggested === undefined && (!isEnvoy(one) || isListening(admin, listening))) return one;
  const neighbour: Neighbour =
    isSuggested === undefined ? { kind: "silent" } : await askProxy(one.name, admin, context);
  if (neighbour.kind === "proxy") {
    return neighbour.annotations === undefined ? one : withNodeAnnotations(one, neighbour.annotations, context);
  }
  const moved = neighbour.kind === "silent" && isEnvoy(one) ? await elsewhere(one.name, context) : undefined;
  if (moved !== undefined) return moveAdmin(one, moved);
  return isSuggested === undefined ? one : suggestedStranger(one.name, admin, neighbour);
}

/**
 * Reports whether a sidecar must name this pod before something is done to it: any proxy on the node's network, and a
 * proxy that only a port tells of if nothing tells whose the network is.
 */
function isInDoubt({ name, isHeard }: FoundSidecar, { since, self }: Context): boolean {
  return since !== undefined && !kindOf(name).isCompanion && (self.network.kind === "node" || isHeard === true);
}

/**
 * Checks a sidecar on a network that may be the node's. A sidecar that the user or the pod names is taken to be this
 * pod's if it is where it should be, unless what is there names another pod, is no proxy or does not answer; and
 * elsewhere if it names this pod. A sidecar that only a port tells of must name this pod, now.
 */
async function settleShared(
  found: FoundSidecar,
  listening: ReadonlySet<number>,
  context: Context,
): Promise<FoundSidecar | Stranger> {
  const { isSuggested: _, isHeard, ...one } = found;
  const given = context.settings.admin;
  if (given !== undefined) return quitAtAdmin(one, urlOf(given));
  const admin = adminOf(one.name, one.adjustment?.admin);
  const neighbour = isListening(admin, listening) ? await askProxy(one.name, admin, context) : gone;
  const owner = neighbour.kind === "proxy" ? judgeOwner(admin, neighbour, context.self) : undefined;
  if (owner === "ours") return isEnvoy(one) ? quitAtAdmin(one, urlOf(admin)) : one;
  const moved = isEnvoy(one) ? await elsewhere(one.name, context) : undefined;
  if (moved !== undefined) return quitAtAdmin(moveAdmin(one, moved), moved);
  if (neighbour === gone) return one;
  if (isHeard === true) return owner ?? suggestedStranger(one.name, admin, neighbour);
  if (owner?.isOthers === true) return namedStranger(one.name, admin, owner);
  if (neighbour.kind === "silent" || (neighbour.kind === "other" && neighbour.problem === undefined)) {
    return namedStranger(
      one.name,
      admin,
      noProxyReason(admin, neighbour, { name: one.name, network: context.self.network }),
    );
  }
  return one;
}

/** The neighbour at a port on which nobody listens. */
const gone: Neighbour = { kind: "silent" };

function isEnvoy({ name }: FoundSidecar): boolean {
  return kindOf(name).drainPath !== undefined;
}

function isListening({ address }: HttpTarget, listening: ReadonlySet<number>): boolean {
  return address.kind === "unix" || listening.has(address.port);
}

/** Finds the admin interface, as a URL, of an Envoy of this kind, else of a plain one. */
async function elsewhere(name: SidecarName, context: Context): Promise<string | undefined> {
  const { heard } = await discover(context);
  const of = (wanted: (other: SidecarName) => boolean) => heard.find((other) => wanted(other.name))?.admin;
  return of((other) => other === name) ?? of((other) => other === PLAIN || name === PLAIN);
}
