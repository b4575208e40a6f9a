import type { Settings } from "../../shared/cli/core/options.ts";
import { describeTarget, type HttpTarget, withPath } from "../../shared/core/address.ts";
import type { Header } from "../../shared/http/core/http-framing.ts";
import type { HttpRequest } from "../../shared/http/core/http-message.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import type { Log } from "../../shared/output/log.ts";
import { annotatedIn } from "../../shared/sidecars/core/detect.ts";
import {
  adminOf,
  doubtOf,
  findingAt,
  findingOf,
  identify,
  identityPath,
  isPortOf,
  isUsualPort,
  namesOf,
  PLAIN,
  type PortFinding,
  type PortIdentity,
  type SuggestedProxy,
  suggestedBy,
  usualPorts,
} from "../../shared/sidecars/core/identify.ts";
import type { OwnPod } from "../../shared/sidecars/core/kinds/kind.ts";
import { targetOf } from "../../shared/sidecars/core/own-probes.ts";
import { type FoundSidecar, moveAdmin } from "../../shared/sidecars/core/plan.ts";
import { kindOf, type SidecarName } from "../../shared/sidecars/core/registry.ts";
import { createHttpClient } from "../http/http.ts";
import { createListenerReader } from "../process/sockets.ts";
import { type Network, whyNoPort } from "./core/network.ts";

// Asks what listens at ports and at admin interfaces. find.ts loads this file once there is something to ask: few starts
// need it.

/** In bytes. An Envoy lists all of its extensions, and under Consul its bootstrap. */
const MAX_INFO = 1024 * 1024;
/** The time before a program that has not answered is asked again, in a search that looks many times. */
const REST_MS = 50;
/** The time for a proxy to say what it is: while others may follow, and at least if this is the only look. */
const PATIENCE_MS = 500;
const ONLY_PATIENCE_MS = 2000;

/** The limits of a search for sidecars. */
export interface SearchOptions {
  /** How long to look for sidecars that may not be there yet. 0 looks once. */
  readonly forMs: number;
  /** How many ms the work that follows has in all: a proxy gets a quarter of them to say what it is, at least 2 s. */
  readonly actMs?: number;
  /** Whether a plain Envoy that the user names may be at any port that listens, if it is at no usual one. */
  readonly anyPort?: boolean;
  /** How long a plain Envoy that the user names is looked for, if it does not listen yet. Left out: once. */
  readonly namedForMs?: number;
  /** Ends the search: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface IdentifyOptions extends Pick<SearchOptions, "forMs" | "actMs" | "signal"> {
  readonly pod: OwnPod;
  /** The ports that containers of the app declare. They are never asked. */
  readonly appPorts: readonly number[];
  /** The user's headers. */
  readonly headers?: readonly Header[];
}

export interface PortFindings {
  /** At most one of each kind. */
  readonly findings: readonly PortFinding[];
  /** Why a proxy that a port suggests was left out, and what to set. */
  readonly doubts: readonly string[];
}

/**
 * Asks at the admin interfaces of the proxies whose usual ports listen what they are, by one GET each, and resolves with
 * the proxies among them. For a network of the pod's own alone.
 */
export async function identifyPorts(listening: ReadonlySet<number>, options: IdentifyOptions): Promise<PortFindings> {
  const suggested = suggestedBy(listening);
  const names = suggested.map(({ name }) => name);
  const all = await Promise.all(suggested.map((one) => identifyPort(one, names, options)));
  const findings = new Map<SidecarName, PortFinding>();
  const doubts: string[] = [];
  for (const one of all) {
    if (typeof one === "string") doubts.push(one);
    // the one at its usual place wins
    else if (one !== undefined && (one.admin === undefined || !findings.has(one.name))) findings.set(one.name, one);
  }
  return { findings: [...findings.values()], doubts };
}

/** Returns why each proxy that a port suggests is left out on a network that is not the pod's own, and what to set. */
export function doubtsOn(network: Exclude<Network, "own">, listening: ReadonlySet<number>): readonly string[] {
  return suggestedBy(listening).map((one) => {
    return `port ${one.port} suggests ${namesOf(one)}, but ${whyNoPort(network, namesOf(one))}`;
  });
}

/** Asks at the admin interface that the user names by `by` what it is, and resolves with the proxy there. */
export async function identifyAdmin(
  admin: HttpTarget,
  by: string,
  options: Omit<IdentifyOptions, "appPorts"> & Pick<SearchOptions, "log">,
): Promise<PortFinding> {
  const identity = await ask(PLAIN, admin, { ...options, appPorts: [] });
  const listening = new Set(createListenerReader(options.log)());
  return findingAt(admin, by, identity, { listening, annotated: annotatedIn(options.pod) });
}

/**
 * Returns the sidecars with the admin interface of the plain Envoy among them where it answers: at any port that is tried
 * for one, then with `anyPort` at any that listens; again and again for `namedForMs`. For a network of the pod's own alone.
 */
export async function placeEnvoy(
  found: readonly FoundSidecar[],
  pod: OwnPod,
  { appPort }: Settings<"appPort">,
  search: SearchOptions,
): Promise<readonly FoundSidecar[]> {
  const others = found.filter(({ name }) => name !== PLAIN).flatMap(adminPortOf);
  const options = { pod, appPorts: [...appPort, ...others], ...search };
  const end = performance.now() + (search.namedForMs ?? 0);
  let one = await findEnvoy(options);
  while (one === undefined && performance.now() < end) {
    await Bun.sleep(REST_MS);
    one = await findEnvoy(options);
  }
  return found.map((each): FoundSidecar => {
    if (each.name !== PLAIN) return each;
    if (one === undefined) return { ...each, isSuggested: true };
    return one.admin === undefined ? each : moveAdmin(each, one.admin);
  });
}

function adminPortOf({ name, adjustment }: FoundSidecar): readonly number[] {
  const { address } = targetOf(adjustment?.admin ?? kindOf(name).admin);
  return address.kind === "tcp" ? [address.port] : [];
}

async function findEnvoy(options: IdentifyOptions & SearchOptions): Promise<PortFinding | undefined> {
  const readListening = createListenerReader(options.log);
  const { findings } = await identifyPorts(usualPorts(readListening(), options.appPorts), options);
  const usual = findings.find(({ name }) => name === PLAIN);
  if (usual !== undefined || options.anyPort !== true) return usual;
  const ports = [...new Set(readListening())].filter((port) => !isUsualPort(port));
  const all = await Promise.all(ports.map((port) => identifyPort({ name: PLAIN, port }, [PLAIN], options)));
  return all.find((one): one is PortFinding => typeof one === "object" && one.name === PLAIN);
}

/**
 * Resolves with what is there, or with a doubt; with undefined for another program. If the admin interface is no proxy's,
 * the port that suggests a mesh's agent may itself be the admin interface of a plain Envoy.
 */
async function identifyPort(
  one: SuggestedProxy,
  names: readonly SidecarName[],
  options: IdentifyOptions,
): Promise<PortFinding | string | undefined> {
  const admin = adminOf(one, options.pod);
  const identity = await ask(one.name, admin, options);
  if (identity.kind === "proxy") return findingOf(one, admin, identity, names);
  const isAgents = !isPortOf(admin, one.port);
  if (isAgents) {
    const itself = adminOf({ ...one, name: PLAIN }, options.pod);
    const shown = await ask(PLAIN, itself, options);
    // a mesh's agent may pass on what its own Envoy answers, and refuse its quit
    if (shown.kind === "proxy" && shown.name === PLAIN) return findingOf(one, itself, shown, names);
  }
  if (identity.kind === "other" && identity.problem === undefined) return undefined;
  // while the search goes on, a proxy counts whose agent's port listens before its admin interface answers
  if (isAgents && identity.kind === "silent" && options.forMs > 0)
    return { name: one.name, by: `port ${one.port}`, isSuggested: true };
  return doubtOf(one, admin, identity);
}

/** The last answers by URL, as long as ebb runs: a program that has answered is not asked again. */
const answers = new Map<string, { readonly identity: PortIdentity; readonly at: number }>();

/** Asks at an admin interface what it is, unless it is the app's. `name` is the kind that is expected there. */
async function ask(name: SidecarName, admin: HttpTarget, options: IdentifyOptions): Promise<PortIdentity> {
  const { appPorts, forMs, actMs = 0, headers = [] } = options;
  if (appPorts.some((port) => isPortOf(admin, port))) return { kind: "silent" };
  const target = withPath(admin, identityPath(name));
  const key = describeTarget(target);
  const last = answers.get(key);
  const isRecent = last !== undefined && forMs > 0 && performance.now() - last.at < REST_MS;
  if (last !== undefined && (isRecent || last.identity.kind !== "silent")) return last.identity;
  const patienceMs = forMs > 0 ? PATIENCE_MS : Math.max(ONLY_PATIENCE_MS, actMs / 4);
  const signal = AbortSignal.any([options.signal, abortedAfter(patienceMs)]);
  const identity = await askOnce(name, { method: "GET", target, headers: [accept, ...headers] }, signal);
  answers.set(key, { identity, at: performance.now() });
  return identity;
}

const accept = ["Accept", "application/json"] as const;

async function askOnce(name: SidecarName, request: HttpRequest, signal: AbortSignal): Promise<PortIdentity> {
  using client = createHttpClient({ maxAnswer: MAX_INFO });
  try {
    return identify(name, await client.request(request, signal));
  } catch (error) {
    if (error instanceof RequestFailed) return { kind: error.kind === "refused" ? "silent" : "other" };
    if (!signal.aborted) throw error;
    return { kind: "silent" };
  }
}
