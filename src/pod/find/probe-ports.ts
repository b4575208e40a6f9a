import { describeTarget, type HttpTarget, withPath } from "../../shared/core/address.ts";
import type { Header } from "../../shared/http/core/http-framing.ts";
import type { HttpRequest } from "../../shared/http/core/http-message.ts";
import { RequestFailed } from "../../shared/http/request-failed.ts";
import { abortedAfter } from "../../shared/io/timer.ts";
import type { PodFacts } from "../../shared/sidecars/core/kinds/kind.ts";
import {
  adminOf,
  doubtOf,
  findingOf,
  type Identity,
  identify,
  identityPath,
  isPortOf,
  namesOf,
  PLAIN,
  type PortFinding,
  type SuggestedProxy,
  suggestedBy,
} from "../../shared/sidecars/core/port-finding.ts";
import type { SidecarName } from "../../shared/sidecars/core/registry.ts";
import { createHttpClient } from "../http/http.ts";
import { type Network, whyNoPort } from "./core/network.ts";

/** In bytes. An Envoy lists all of its extensions, and under Consul its bootstrap. */
const MAX_INFO = 1024 * 1024;
/** The time before a program that has not answered is asked again, in a search that looks many times. */
const REST_MS = 50;

export interface PortProbe {
  readonly pod: PodFacts;
  /** The ports that containers of the app declare. They are never asked. */
  readonly appPorts: readonly number[];
  /** The time for an answer. */
  readonly patienceMs: number;
  /** Whether the search goes on: then a proxy whose agent's port listens counts before its admin interface answers. */
  readonly isWaiting: boolean;
  readonly signal: AbortSignal;
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
export async function probePorts(listening: ReadonlySet<number>, probe: PortProbe): Promise<PortFindings> {
  const suggested = suggestedBy(listening);
  const names = suggested.map(({ name }) => name);
  const all = await Promise.all(suggested.map((one) => probeOne(one, names, probe)));
  const findings = new Map<SidecarName, PortFinding>();
  const doubts: string[] = [];
  for (const one of all) {
    if (typeof one === "string") doubts.push(one);
    // the one at its usual place wins
    else if (one !== undefined && (one.admin === undefined || !findings.has(one.name))) findings.set(one.name, one);
  }
  return { findings: [...findings.values()], doubts };
}

/** Asks at each of these ports, as `probePorts` does at usual ones, and resolves with the first that is a plain Envoy. */
export async function findEnvoy(ports: ReadonlySet<number>, probe: PortProbe): Promise<PortFinding | undefined> {
  const all = await Promise.all([...ports].map((port) => probeOne({ name: PLAIN, port }, [PLAIN], probe)));
  return all.find((one): one is PortFinding => typeof one === "object" && one.name === PLAIN);
}

/** Returns why each proxy that a port suggests is left out on a network that is not the pod's own, and what to set. */
export function doubtsOn(network: Exclude<Network, "own">, listening: ReadonlySet<number>): readonly string[] {
  return suggestedBy(listening).map((one) => {
    return `port ${one.port} suggests ${namesOf(one)}, but ${whyNoPort(network, namesOf(one))}`;
  });
}

/**
 * Resolves with what is there, or with a doubt; with undefined for another program. If the admin interface is no proxy's,
 * the port that suggests a mesh's agent may itself be the admin interface of a plain Envoy.
 */
async function probeOne(
  one: SuggestedProxy,
  names: readonly SidecarName[],
  probe: PortProbe,
): Promise<PortFinding | string | undefined> {
  const admin = adminOf(one, probe.pod);
  const identity = await ask(one.name, admin, probe);
  if (identity.kind === "proxy") return findingOf(one, admin, identity, names);
  const isAgents = !isPortOf(admin, one.port);
  if (isAgents) {
    const itself = adminOf({ ...one, name: PLAIN }, probe.pod);
    const shown = await ask(PLAIN, itself, probe);
    // a mesh's agent may pass on what its own Envoy answers, and refuse its quit
    if (shown.kind === "proxy" && shown.name === PLAIN) return findingOf(one, itself, shown, names);
  }
  if (identity.kind === "other" && identity.problem === undefined) return undefined;
  if (isAgents && identity.kind === "silent" && probe.isWaiting)
    return { name: one.name, by: `port ${one.port}`, isSuggested: true };
  return doubtOf(one, admin, identity);
}

/** The last answers by URL, as long as ebb runs: a program that has answered is not asked again. */
const asked = new Map<string, { readonly identity: Identity; readonly at: number }>();

async function ask(name: SidecarName, admin: HttpTarget, { appPorts, ...probe }: PortProbe): Promise<Identity> {
  return appPorts.some((port) => isPortOf(admin, port)) ? { kind: "silent" } : await askAt(name, admin, probe);
}

/** Asks at an admin interface what it is, and resolves with that. `name` is the kind that is expected there. */
export async function askAt(
  name: SidecarName,
  admin: HttpTarget,
  probe: Pick<PortProbe, "patienceMs" | "signal"> &
    Partial<Pick<PortProbe, "isWaiting">> & { readonly headers?: readonly Header[] },
): Promise<Identity> {
  const target = withPath(admin, identityPath(name));
  const key = describeTarget(target);
  const last = asked.get(key);
  const isRecent = last !== undefined && probe.isWaiting === true && performance.now() - last.at < REST_MS;
  if (last !== undefined && (isRecent || last.identity.kind !== "silent")) return last.identity;
  const signal = AbortSignal.any([probe.signal, abortedAfter(probe.patienceMs)]);
  const identity = await askOnce(name, { method: "GET", target, headers: [accept, ...(probe.headers ?? [])] }, signal);
  asked.set(key, { identity, at: performance.now() });
  return identity;
}

const accept = ["Accept", "application/json"] as const;

async function askOnce(name: SidecarName, request: HttpRequest, signal: AbortSignal): Promise<Identity> {
  using client = createHttpClient({ maxAnswer: MAX_INFO });
  try {
    return identify(name, await client.request(request, signal));
  } catch (error) {
    if (error instanceof RequestFailed) return { kind: error.kind === "refused" ? "silent" : "other" };
    if (!signal.aborted) throw error;
    return { kind: "silent" };
  }
}
