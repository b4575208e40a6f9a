import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import {
  type Detection,
  detect,
  type Evidence,
  hasUserVariable,
  isUsualPort,
  parseAnnotations,
} from "../../core/sidecars/detect.ts";
import type { Annotations } from "../../core/sidecars/kinds/kind.ts";
import { type Network, networkByHosts, whyNoPort } from "../../core/sidecars/network.ts";
import { type FoundSidecar, foundIn, planSidecars } from "../../core/sidecars/plan.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { readIfThere, readSmall } from "../file.ts";
import type { Log } from "../output/log.ts";
import { createListenerReader } from "../process/sockets.ts";
import { locateAdmin } from "./admin-socket.ts";
import type { PortFindings } from "./probe-ports.ts";
import { whenReady } from "./ready.ts";

const LOOK_PERIOD_MS = 9;
/**
 * The pause after a look, as a multiple of what the look took: if only /proc tells, looking takes a twentieth of a core
 * at most.
 */
const LOOK_REST = 20;

/** The options that decide which sidecars there are and what is asked of them. */
export type SidecarSettings = Settings<
  "sidecar" | "admin" | "ready" | "quit" | "podAnnotations" | "hostNetwork" | "appPort"
> &
  Partial<Settings<"signalProcess" | "readyPath">>;

export interface FindOptions {
  readonly env: Environment;
  /** How long to look for sidecars that may not be there yet. 0 looks once. */
  readonly forMs: number;
  /** How many ms the work that follows has in all: a proxy gets a quarter of them to say what it is, at least 2 s. */
  readonly actMs?: number;
  /** What an earlier search has found and logged. */
  readonly before?: readonly FoundSidecar[] | undefined;
  /** Ends the search: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called with the evidence, in words for the log, if `auto` has found sidecars. */
  readonly onFound?: (by: string) => void;
}

/** The sidecars of this pod, and the requests that ebb sends them. */
export interface FoundSidecars {
  readonly found: readonly FoundSidecar[];
  /**
   * The requests for each of `found`, in the same order; after them those that only the user's options name (`custom`).
   */
  readonly sidecars: readonly Sidecar[];
  /** Why a proxy that only a port suggests was left out, and what to set. */
  readonly doubts: readonly string[];
}

/**
 * Finds the sidecars to wait for and to quit: those that `--sidecar` names or, with `auto`, those that annotations,
 * variables or listening ports tell of. With `auto` it looks until there is a proxy, or `forMs` is over. Resolves with
 * empty lists if it finds none; looks for none if the user says both what to wait for and what to quit. Logs what it
 * finds.
 */
export async function findSidecars(settings: SidecarSettings, look: FindOptions): Promise<FoundSidecars> {
  const { found, doubts } = await here(settings, look);
  const sidecars: Sidecar[] = [];
  for (const sidecar of planSidecars(found, settings)) sidecars.push(locateAdmin(sidecar));
  return { found, sidecars, doubts };
}

async function here(settings: SidecarSettings, look: FindOptions): Promise<Omit<FoundSidecars, "sidecars">> {
  const { env, log } = look;
  const annotations = readAnnotations(settings.podAnnotations, look.before === undefined ? log : undefined);
  if (settings.sidecar !== "auto") return { found: foundIn({ env, annotations }, settings.sidecar), doubts: [] };
  if (isDescribed(settings, env)) return { found: [], doubts: [] };
  const { found, by, doubts } = await lookAround({ env, admin: settings.admin, annotations }, settings, look);
  if (by === undefined) return { found, doubts };
  const sidecars: string[] = [];
  let native = false;
  for (const { name, isNative } of found) {
    sidecars.push(name);
    native ||= isNative;
  }
  const isNews = look.before === undefined || look.before.map(({ name }) => name).join() !== sidecars.join();
  if (isNews) log.info({ sidecars, by, native }, "found");
  look.onFound?.(by);
  return { found, doubts };
}

/** Kubernetes allows a pod 256 KiB of annotations (apimachinery, TotalAnnotationSizeLimitB). */
const MOST_ANNOTATIONS_MIB = 1;

/**
 * Reads the pod's annotations from the file of the downward API. Returns an empty map if there is no such file, or if
 * it cannot be read or is larger than 1 MiB (`MOST_ANNOTATIONS_MIB`): it then logs a warning.
 */
export function readAnnotations(path: string, log?: Log): Annotations {
  const text = readSmall(path, MOST_ANNOTATIONS_MIB);
  if (typeof text === "object") log?.warn({ path, reason: text.reason }, "cannot read the pod's annotations");
  return typeof text === "string" ? parseAnnotations(text) : new Map();
}

/** Reports whether the user says both what to wait for and what to quit, so that nothing is left to be found. */
function isDescribed({ admin, ready, quit, signalProcess = [] }: SidecarSettings, env: Environment): boolean {
  const isNamed = admin !== undefined || hasUserVariable(env);
  return (
    !isNamed &&
    ready.length > 0 &&
    (signalProcess.length > 0 || quit.some((one) => one === "none" || one.isAdditional !== true))
  );
}

/** The longest time for which /etc/hosts may be empty. */
const LONGEST_REWRITE_MS = 1000;

/**
 * Resolves as `readNetwork` returns, but not while /etc/hosts is empty: the kubelet writes it again for each container of
 * the pod that it starts, and truncates it first (kubernetes pkg/kubelet/kubelet_pods.go, ensureHostsFile).
 */
async function networkOnceWritten(settings: SidecarSettings): Promise<Network> {
  const end = performance.now() + LONGEST_REWRITE_MS;
  while (settings.hostNetwork === undefined && readIfThere("/etc/hosts") === "" && performance.now() < end)
    await Bun.sleep(1);
  return readNetwork(settings);
}

/** Decides whose the network is, by `--host-network`, else by /etc/hosts and mountinfo. */
export function readNetwork({ hostNetwork }: Settings<"hostNetwork">): Network {
  if (hostNetwork !== undefined) return hostNetwork ? "node" : "own";
  return networkByHosts(readIfThere("/etc/hosts"), readIfThere("/proc/self/mountinfo"));
}

type Looked = Detection & Pick<FoundSidecars, "doubts">;

/**
 * Looks at what listens, only if nothing else tells of the mesh's proxy and the network is the pod's own, until one is
 * found or time is up. Companions that are ready end this too: their own traffic goes through the proxy, so that it is
 * there by then.
 */
async function lookAround(
  facts: Omit<Evidence, "byPort">,
  settings: SidecarSettings,
  look: FindOptions,
): Promise<Looked> {
  const told = detect({ ...facts, byPort: [] });
  if (told.hasProxy) return { ...told, doubts: [] };
  const isSilent = told.by !== undefined || look.before !== undefined;
  const network = await networkOnceWritten(settings);
  const listen = createPortProbe(facts, settings, { ...look, network });
  if (network !== "own") {
    if (!isSilent) look.log.info({ lookedMs: 0, reason: whyNoPort(network) }, "no sidecar found");
    return { ...told, doubts: (await listen()).doubts };
  }
  const start = performance.now();
  using companions = watch(look.forMs > 0 ? told.found : []);
  for (;;) {
    const { findings, doubts, tookMs } = await listen();
    if (findings.length > 0) return { ...detect({ ...facts, byPort: findings }), doubts };
    const lookedMs = Math.round(performance.now() - start);
    const isOver = lookedMs >= look.forMs;
    if (isOver && !isSilent) look.log.info({ lookedMs }, "no sidecar found");
    if (isOver || companions.areReady()) return { ...told, doubts };
    look.signal.throwIfAborted();
    await Bun.sleep(Math.max(LOOK_PERIOD_MS, LOOK_REST * tookMs));
  }
}

/** The time for a proxy to say what it is: while others may follow, and at least if this is the only look. */
const PATIENCE_MS = 500;
const ONLY_PATIENCE_MS = 2000;

interface Listened extends PortFindings {
  /** How long it took to list the ports. */
  readonly tookMs: number;
}

/** Creates a function that asks at usual ports what listens there. It loads the code for that once one listens. */
function createPortProbe(
  pod: Omit<Evidence, "byPort">,
  { appPort: appPorts }: SidecarSettings,
  { forMs, actMs = 0, network, signal, log }: FindOptions & { readonly network: Network },
): () => Promise<Listened> {
  const read = createListenerReader(log);
  const patienceMs = forMs > 0 ? PATIENCE_MS : Math.max(ONLY_PATIENCE_MS, actMs / 4);
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

interface Watch extends Disposable {
  /** Reports whether all are ready by now; false if there are none. */
  readonly areReady: () => boolean;
}

/** Starts to wait for companions, until it is disposed of. */
function watch(companions: readonly FoundSidecar[]): Watch {
  const stop = new AbortController();
  let missing = 0;
  for (const { ready } of planSidecars(companions, noUrls)) {
    for (const probe of ready) {
      missing += 1;
      whenReady(probe, stop.signal, () => undefined).then(
        () => {
          missing -= 1;
        },
        () => undefined, // the search is over
      );
    }
  }
  const isAsked = missing > 0;
  return { areReady: () => isAsked && missing === 0, [Symbol.dispose]: () => stop.abort() };
}

const noUrls = { admin: undefined, ready: [], quit: [] };
