import { type HttpTarget, parseHttpTarget } from "../core/address.ts";
import type { Settings } from "../core/options.ts";
import { type Heard, type Listener, retold, suggestedBy } from "../core/sidecars/detect.ts";
import { identityOf } from "../core/sidecars/identity.ts";
import type { PodFacts } from "../core/sidecars/kind.ts";
import { networkOf } from "../core/sidecars/network.ts";
import { type FoundSidecar, foundIn, moveAdmin } from "../core/sidecars/plan.ts";
import {
  adminOf,
  judgeOwner,
  type Neighbour,
  type Self,
  type Stranger,
  unproved,
  urlOf,
} from "../core/sidecars/proof.ts";
import { kindOf, type SidecarName } from "../core/sidecars/registry.ts";
import { type Asking, ask } from "./ask-proxy.ts";
import { readIfThere } from "./file.ts";

// Loaded where neither annotations, variables nor the user name the proxy. Each listener is asked with one small GET.
/** Listeners on loopback that are asked, in all. */
const MAX_ASKED = 32;
const PLAIN = "envoy";

export interface NeighbourOptions extends PodFacts {
  readonly settings: Settings<"hostNetwork" | "appPort" | "podAnnotations">;
}

/** What was found out of those that listen. */
export interface Heards {
  readonly heard: readonly Heard[];
  readonly strangers: readonly Stranger[];
}

export interface Settled {
  readonly found: readonly FoundSidecar[];
  readonly strangers: readonly Stranger[];
}

export interface Neighbours {
  /** The proxies among those that listen. Nobody who has answered is asked a second time. */
  hear(listeners: readonly Listener[], signal: AbortSignal): Promise<Heards>;
  /** Those that were found, their admin interfaces where they are; without those that nothing proves. */
  settle(found: readonly FoundSidecar[], listeners: readonly Listener[], signal: AbortSignal): Promise<Settled>;
}

export function createNeighbours(options: NeighbourOptions): Neighbours {
  let known: Self | undefined;
  const context = (listeners: readonly Listener[], signal: AbortSignal, isLast: boolean): Context => {
    known ??= readSelf(options, listeners);
    const appPorts = new Set(options.settings.appPort);
    const others = listeners.filter(({ port }) => !appPorts.has(port));
    return { ...options, self: known, appPorts, listeners: others, isLast, signal };
  };
  return {
    hear: (listeners, signal) => hear(context(listeners, signal, false)),
    settle: (found, listeners, signal) => settle(found, context(listeners, signal, true)),
  };
}

interface Context extends PodFacts, Asking {
  readonly self: Self;
  /** But for the app's. */
  readonly listeners: readonly Listener[];
}

function readSelf({ settings, env }: NeighbourOptions, listeners: readonly Listener[]): Self {
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

async function hear(context: Context): Promise<Heards> {
  const ports = new Set(context.listeners.map(({ port }) => port));
  const suggested = suggestedBy(ports);
  const names = suggested.map(({ name }) => name);
  const all = await Promise.all(suggested.map((one) => hearOne(one, names, context)));
  const heard = all.filter((one) => one !== undefined && "by" in one) as readonly Heard[];
  const strangers = all.filter((one) => one !== undefined && "reason" in one) as readonly Stranger[];
  if (heard.length > 0) return { heard, strangers };
  const known = new Set(suggested.flatMap(({ name }) => portOf(adminIn(name, context)) ?? []));
  const others = await discover({ ...context, listeners: context.listeners.filter(({ port }) => !known.has(port)) });
  return { heard: others.heard, strangers: [...strangers, ...others.strangers] };
}

/** A proxy that a port suggests; undefined: there is none. */
async function hearOne(
  { name, port }: { readonly name: SidecarName; readonly port: number },
  names: readonly SidecarName[],
  context: Context,
): Promise<Heard | Stranger | undefined> {
  const admin = adminIn(name, context);
  const neighbour = await ask(name, admin, context);
  const isOwn = context.self.network.kind === "own";
  if (neighbour.kind === "silent") return isOwn ? { name, by: `port ${port}`, isSuggested: true } : undefined;
  if (neighbour.kind === "other") return neighbour.problem === undefined ? undefined : unproved(name, admin, neighbour);
  const owner = judgeOwner(admin, neighbour, context.self);
  if (owner !== "ours") return owner;
  const by = isOwn ? `port ${port}` : `port ${port}, which names this pod`;
  // a mesh's Envoy may be on the port that is usual for a plain one
  const told = annotationsOf(neighbour);
  if (name !== PLAIN || neighbour.name === PLAIN || names.includes(neighbour.name)) return { name, by, ...told };
  return { name: neighbour.name, by, admin: urlOf(admin), ...told };
}

function annotationsOf({ annotations }: Extract<Neighbour, { kind: "proxy" }>): Pick<Heard, "annotations"> {
  return annotations === undefined ? {} : { annotations };
}

function adminIn(name: SidecarName, context: Context): HttpTarget {
  return adminOf(name, foundIn(context, [name])[0]?.adjustment?.admin);
}

function portOf({ address }: HttpTarget): number | undefined {
  return address.kind === "tcp" ? address.port : undefined;
}

/** The Envoys on loopback, wherever they listen. On the node's network there are too many others: only who can be told apart is asked. */
async function discover(context: Context): Promise<Heards> {
  const { self, listeners } = context;
  const heard: Heard[] = [];
  const strangers: Stranger[] = [];
  if (self.network.kind !== "own" && Object.values(self.pod).every((part) => part === undefined))
    return { heard, strangers };
  const admins = [...new Set(listeners.flatMap(adminAt))].slice(0, MAX_ASKED);
  const asked = await Promise.all(
    admins.map(async (url) => {
      const admin = parseHttpTarget(url) as HttpTarget;
      return { url, admin, neighbour: await ask(PLAIN, admin, context) };
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

function adminAt({ loopback, port }: Listener): readonly string[] {
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
  const { isSuggested, ...one } = found;
  const admin = adminOf(one.name, one.adjustment?.admin);
  if (isSuggested === undefined && (!isEnvoy(one) || isListening(admin, listening))) return one;
  const neighbour: Neighbour = isSuggested === undefined ? { kind: "silent" } : await ask(one.name, admin, context);
  if (neighbour.kind === "proxy") {
    return neighbour.annotations === undefined ? one : retold(one, neighbour.annotations, context);
  }
  const moved = neighbour.kind === "silent" && isEnvoy(one) ? await elsewhere(one.name, context) : undefined;
  if (moved !== undefined) return moveAdmin(one, moved);
  return isSuggested === undefined ? one : unproved(one.name, admin, neighbour);
}

function isEnvoy({ name }: FoundSidecar): boolean {
  return kindOf(name).drainPath !== undefined;
}

function isListening({ address }: HttpTarget, listening: ReadonlySet<number>): boolean {
  return address.kind === "unix" || listening.has(address.port);
}

/** Where an Envoy of this kind has its admin interface; else one that may be of any kind. */
async function elsewhere(name: SidecarName, context: Context): Promise<string | undefined> {
  const { heard } = await discover(context);
  const of = (wanted: (other: SidecarName) => boolean) => heard.find((other) => wanted(other.name))?.admin;
  return of((other) => other === name) ?? of((other) => other === PLAIN || name === PLAIN);
}
