import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { readIfThere } from "../../shared/io/file.ts";
import type { Log } from "../../shared/output/log.ts";
import { adminNamedBy, annotatedIn, isUsualPort } from "../../shared/sidecars/core/detect.ts";
import type { PodFacts } from "../../shared/sidecars/core/kinds/kind.ts";
import { targetOf } from "../../shared/sidecars/core/own-probes.ts";
import { type FoundSidecar, moveAdmin } from "../../shared/sidecars/core/plan.ts";
import { findingAt, isSharedAdmin, PLAIN, type PortFinding } from "../../shared/sidecars/core/port-finding.ts";
import { kindOf } from "../../shared/sidecars/core/registry.ts";
import { createListenerReader } from "../process/sockets.ts";
import { type Network, networkByHosts } from "./core/network.ts";
import type { PortFindings } from "./probe-ports.ts";

/** The limits of a search for sidecars. */
export interface Look {
  /** How long to look for sidecars that may not be there yet. 0 looks once. */
  readonly forMs: number;
  /** How many ms the work that follows has in all: a proxy gets a quarter of them to say what it is, at least 2 s. */
  readonly actMs?: number;
  /** Whether a plain Envoy that the user names may be at any port that listens, if it is at no usual one. */
  readonly anyPort?: boolean;
  /** Ends the search: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

type PortSettings = Settings<"admin" | "hostNetwork" | "appPort"> & Partial<Settings<"header">>;

/** The longest time for which /etc/hosts may be empty. */
const LONGEST_REWRITE_MS = 1000;

/**
 * Resolves with whose the network is, by `--host-network`, else by /etc/hosts and mountinfo. Waits while /etc/hosts is
 * empty: the kubelet writes it again for each container of the pod that it starts, and truncates it first (kubernetes
 * pkg/kubelet/kubelet_pods.go, ensureHostsFile).
 */
export async function readNetwork({ hostNetwork }: Settings<"hostNetwork">, env: Environment): Promise<Network> {
  if (hostNetwork !== undefined) return hostNetwork ? "node" : "own";
  const end = performance.now() + LONGEST_REWRITE_MS;
  while (readIfThere("/etc/hosts") === "" && performance.now() < end) await Bun.sleep(1);
  return networkByHosts(readIfThere("/etc/hosts"), readIfThere("/proc/self/mountinfo"), env);
}

/**
 * Resolves with the proxy at the admin interface that the user names. Asks there what it is if it may be a mesh's or a
 * plain Envoy's. Resolves with undefined if there is none, or if a mesh's variable tells which proxy is here.
 */
export async function askAdmin(
  pod: PodFacts,
  { admin, header: headers = [] }: Pick<PortSettings, "admin" | "header">,
  look: Look,
): Promise<PortFinding | undefined> {
  const by = adminNamedBy(pod, admin);
  if (admin === undefined || by === undefined) return undefined;
  if (!isSharedAdmin(admin)) return findingAt(admin, by, { kind: "other" }, { listening: new Set(), annotated: [] });
  const { askAt } = await import("./probe-ports.ts"); // few need it
  const identity = await askAt(PLAIN, admin, { patienceMs: patienceOf(look), signal: look.signal, headers });
  const listening = new Set(createListenerReader(look.log)());
  return findingAt(admin, by, identity, { listening, annotated: annotatedIn(pod) });
}

/**
 * Returns the sidecars with the admin interface of a plain Envoy where it answers, if the user names only the Envoy. It
 * may be at any port that is tried for one, then with `anyPort` at any that listens, if the network is the pod's own.
 */
export async function placeEnvoy(
  found: readonly FoundSidecar[],
  pod: PodFacts,
  settings: PortSettings,
  look: Look,
): Promise<readonly FoundSidecar[]> {
  const isToPlace = settings.admin === undefined && found.some(({ name }) => name === PLAIN);
  if (!isToPlace || (await readNetwork(settings, pod.env)) !== "own") return found;
  const others = found.filter(({ name }) => name !== PLAIN).flatMap(adminPortOf);
  const appPort = [...settings.appPort, ...others];
  const { findings } = await createPortProbe(pod, { appPort }, { ...look, network: "own" })();
  const one = findings.find(({ name }) => name === PLAIN) ?? (await findAnywhere(pod, appPort, look));
  return found.map((each): FoundSidecar => {
    if (each.name !== PLAIN) return each;
    if (one === undefined) return { ...each, isSuggested: true };
    return one.admin === undefined ? each : moveAdmin(each, one.admin);
  });
}

async function findAnywhere(pod: PodFacts, appPorts: readonly number[], look: Look): Promise<PortFinding | undefined> {
  if (look.anyPort !== true) return undefined;
  const { findEnvoy } = await import("./probe-ports.ts"); // few need it
  const ports = createListenerReader(look.log)().filter((port) => !isUsualPort(port));
  const probe = { pod, appPorts, patienceMs: patienceOf(look), isWaiting: false, signal: look.signal };
  return await findEnvoy(new Set(ports), probe);
}

function adminPortOf({ name, adjustment }: FoundSidecar): readonly number[] {
  const { address } = targetOf(adjustment?.admin ?? kindOf(name).admin);
  return address.kind === "tcp" ? [address.port] : [];
}

/** The time for a proxy to say what it is: while others may follow, and at least if this is the only look. */
const PATIENCE_MS = 500;
const ONLY_PATIENCE_MS = 2000;

function patienceOf({ forMs, actMs = 0 }: Look): number {
  return forMs > 0 ? PATIENCE_MS : Math.max(ONLY_PATIENCE_MS, actMs / 4);
}

interface Listened extends PortFindings {
  /** How long it took to list the ports. */
  readonly tookMs: number;
}

/** Creates a function that asks at usual ports what listens there. It loads the code for that once one listens. */
export function createPortProbe(
  pod: PodFacts,
  { appPort: appPorts }: Pick<PortSettings, "appPort">,
  { network, ...look }: Look & { readonly network: Network },
): () => Promise<Listened> {
  const { forMs, signal, log } = look;
  const read = createListenerReader(log);
  const patienceMs = patienceOf(look);
  return async () => {
    const start = performance.now();
    const listening = read();
    const tookMs = performance.now() - start;
    const usual = new Set<number>();
    for (const port of listening) if (isUsualPort(port) && !appPorts.includes(port)) usual.add(port);
    if (usual.size === 0) return { findings: [], doubts: [], tookMs };
    const { doubtsOn, probePorts } = await import("./probe-ports.ts"); // few need it
    if (network !== "own") return { findings: [], doubts: doubtsOn(network, usual), tookMs };
    const isWaiting = forMs > 0;
    return { ...(await probePorts(usual, { pod, appPorts, patienceMs, isWaiting, signal })), tookMs };
  };
}
