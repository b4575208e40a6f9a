import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { foundByName } from "../../shared/sidecars/core/choice.ts";
import { adminNamedBy, type Detection, detect, isDescribed, withNamed } from "../../shared/sidecars/core/detect.ts";
import {
  findingAt,
  isSharedAdmin,
  isUsualPort,
  PLAIN,
  type PortFinding,
  usualPorts,
} from "../../shared/sidecars/core/identify.ts";
import type { OwnPod } from "../../shared/sidecars/core/kinds/kind.ts";
import { type FoundSidecar, onNode, planSidecars } from "../../shared/sidecars/core/plan.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { whenReady } from "../probe/ready.ts";
import { createListenerReader, readListeningSockets } from "../process/sockets.ts";
import { locateAdmin } from "./admin-socket.ts";
import { readAnnotations } from "./annotations.ts";
import { type Network, whyNoPort } from "./core/network.ts";
import type { PortFindings, SearchOptions } from "./identify.ts";
import { isOnNode, readNetwork } from "./network.ts";

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
  Partial<Settings<"signalProcess" | "readyPath" | "header">>;

interface FindOptions extends SearchOptions {
  readonly env: Environment;
  /** What an earlier search has found and logged. */
  readonly before?: readonly FoundSidecar[] | undefined;
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
  /** What showed them: `--sidecar`, `annotation linkerd.io/proxy-version`, `port 15021`. Undefined if there are none. */
  readonly by: string | undefined;
  /** Why a proxy that only a port suggests was left out, and what to set. */
  readonly doubts: readonly string[];
}

/**
 * Finds the sidecars to wait for and to quit: those that `--sidecar` names or, with `auto`, those that annotations,
 * variables or listening ports tell of. With `auto` it looks until there is a proxy, or `forMs` is over. Resolves with
 * empty lists if it finds none; looks for none if the user says both what to wait for and what to quit. Logs what it
 * finds, unless the signal was aborted meanwhile.
 */
export async function findSidecars(settings: SidecarSettings, options: FindOptions): Promise<FoundSidecars> {
  const result = await search(settings, options);
  const isNodes = result.found.length > 0 && (await isOnNode(settings));
  const found = isNodes ? result.found.map(onNode) : result.found;
  const sidecars: Sidecar[] = [];
  for (const sidecar of planSidecars(found, settings)) sidecars.push(locateAdmin(sidecar));
  return { ...result, found, sidecars };
}

type Result = Omit<FoundSidecars, "sidecars">;

async function search(settings: SidecarSettings, options: FindOptions): Promise<Result> {
  const { env, log, before } = options;
  const { isAuto, named: names } = settings.sidecar;
  const pod = { env, annotations: readAnnotations(settings.podAnnotations, before === undefined ? log : undefined) };
  const named = foundByName(pod, names);
  if (!isAuto) return { found: await placed(named, pod, settings, options), by: "--sidecar", doubts: [] };
  if (isDescribed(settings, env)) return { found: named, by: named.length === 0 ? undefined : "--sidecar", doubts: [] };
  const { found, by, doubts } = await searchPod({ pod, named }, settings, options);
  if (by !== undefined) tellFound(found, by, options);
  return { found, by, doubts };
}

/** Logs what was found by `by`, if it is not what an earlier search has found. */
function tellFound(found: readonly FoundSidecar[], by: string, { before, log, signal, onFound }: FindOptions): void {
  if (before !== undefined && found.some(({ isSuggested }) => isSuggested)) return;
  const sidecars: string[] = [];
  let native = false;
  for (const { name, isNative } of found) {
    sidecars.push(name);
    native ||= isNative;
  }
  const isNews = before === undefined || before.map(({ name }) => name).join() !== sidecars.join();
  if (isNews && !signal.aborted) log.info({ sidecars, by, native }, "found");
  onFound?.(by);
}

interface NamedInPod {
  readonly pod: OwnPod;
  /** The sidecars that the user names beside `auto`. */
  readonly named: readonly FoundSidecar[];
}

/**
 * Looks at what listens, only if nothing else tells of the mesh's proxy and the network is the pod's own, until one is
 * found or time is up. Ready companions also end the search: their traffic passes the proxy.
 */
async function searchPod(
  { pod, named }: NamedInPod,
  settings: SidecarSettings,
  options: FindOptions,
): Promise<Detection & Result> {
  const atAdmin = await findAtAdmin(pod, settings, options);
  const detectWith = (byPort: readonly PortFinding[]) => withNamed(detect({ ...pod, atAdmin, byPort }), named);
  const detection = detectWith([]);
  if (detection.hasProxy)
    return { ...detection, found: await placed(detection.found, pod, settings, options), doubts: [] };
  const isToTell = () => detection.by === undefined && options.before === undefined && !options.signal.aborted;
  const network = await readNetwork(settings, pod.env);
  const searchPorts = createPortSearch(pod, settings, { ...options, network });
  if (network !== "own") {
    if (isToTell()) options.log.info({ lookedMs: 0, reason: whyNoPort(network) }, "no sidecar found");
    return { ...detection, doubts: (await searchPorts()).doubts };
  }
  const start = performance.now();
  using companions = watch(options.forMs > 0 ? detection.found : []);
  for (;;) {
    const { findings, doubts, tookMs } = await searchPorts();
    if (findings.length > 0) return { ...detectWith(findings), doubts };
    const lookedMs = Math.round(performance.now() - start);
    const isOver = lookedMs >= options.forMs;
    if (isOver && isToTell()) await logNone(lookedMs, settings, options);
    if (isOver || companions.areReady()) return { ...detection, doubts };
    options.signal.throwIfAborted();
    await Bun.sleep(Math.max(LOOK_PERIOD_MS, LOOK_REST * tookMs));
  }
}

/**
 * Resolves with the proxy at the admin interface that the user names, which is asked what it is if it may be a mesh's or
 * a plain Envoy's. Resolves with undefined if there is none, or if a mesh's variable tells which proxy is here.
 */
async function findAtAdmin(
  pod: OwnPod,
  { admin, header: headers = [] }: SidecarSettings,
  options: SearchOptions,
): Promise<PortFinding | undefined> {
  const by = adminNamedBy(pod, admin);
  if (admin === undefined || by === undefined) return undefined;
  if (!isSharedAdmin(admin)) return findingAt(admin, by, { kind: "other" }, { listening: new Set(), annotated: [] });
  const { identifyAdmin } = await import("./identify.ts"); // few need it
  return await identifyAdmin(admin, by, { ...options, pod, headers });
}

/** Resolves with the sidecars, of which a plain Envoy is where it answers, if the user names it alone (`placeEnvoy`). */
async function placed(
  found: readonly FoundSidecar[],
  pod: OwnPod,
  settings: SidecarSettings,
  options: SearchOptions,
): Promise<readonly FoundSidecar[]> {
  const isToPlace = settings.admin === undefined && found.some(({ name }) => name === PLAIN);
  if (!isToPlace || (await readNetwork(settings, pod.env)) !== "own") return found;
  const { placeEnvoy } = await import("./identify.ts"); // few need it
  return await placeEnvoy(found, pod, settings, options);
}

interface PortSearch extends PortFindings {
  /** How long it took to list the ports. */
  readonly tookMs: number;
}

/** Creates a function that asks what listens at the usual ports of proxies. It loads the code for that once one listens. */
export function createPortSearch(
  pod: OwnPod,
  { appPort: appPorts }: Settings<"appPort">,
  { network, ...options }: SearchOptions & { readonly network: Network },
): () => Promise<PortSearch> {
  const readListening = createListenerReader(options.log);
  return async () => {
    const start = performance.now();
    const listening = readListening();
    const tookMs = performance.now() - start;
    const usual = usualPorts(listening, appPorts);
    if (usual.size === 0) return { findings: [], doubts: [], tookMs };
    const { doubtsOn, identifyPorts } = await import("./identify.ts"); // few need it
    if (network !== "own") return { findings: [], doubts: doubtsOn(network, usual), tookMs };
    return { ...(await identifyPorts(usual, { pod, appPorts, ...options })), tookMs };
  };
}

/**
 * Logs that there is no sidecar in the pod's own network, and which other ports listen: a warning if one may well be a
 * sidecar's, and the command is about to act as if there were none.
 */
async function logNone(lookedMs: number, { appPort }: SidecarSettings, options: FindOptions): Promise<void> {
  const { otherPorts } = await import("./core/other-ports.ts"); // few need it
  const others = otherPorts(readListeningSockets(options.log), isUsualPort, appPort);
  const isActing = options.forMs > 0 || options.actMs !== undefined;
  const { isSuspicious = false, ...fields } = others ?? {};
  options.log[isSuspicious && isActing ? "warn" : "info"]({ lookedMs, ...fields }, "no sidecar found");
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
