import type { Settings } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import { readSmall } from "../../shared/io/file.ts";
import type { Log } from "../../shared/output/log.ts";
import { foundByName } from "../../shared/sidecars/core/choice.ts";
import {
  type Detection,
  detect,
  isDescribed,
  isUsualPort,
  parseAnnotations,
  withNamed,
} from "../../shared/sidecars/core/detect.ts";
import type { Annotations, PodFacts } from "../../shared/sidecars/core/kinds/kind.ts";
import { type FoundSidecar, planSidecars } from "../../shared/sidecars/core/plan.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { whenReady } from "../probe/ready.ts";
import { readListeners } from "../process/sockets.ts";
import { locateAdmin } from "./admin-socket.ts";
import { whyNoPort } from "./core/network.ts";
import { askAdmin, createPortProbe, type Look, placeEnvoy, readNetwork } from "./ports.ts";

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

export interface FindOptions extends Look {
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
 * finds.
 */
export async function findSidecars(settings: SidecarSettings, look: FindOptions): Promise<FoundSidecars> {
  const { found, by, doubts } = await here(settings, look);
  const sidecars: Sidecar[] = [];
  for (const sidecar of planSidecars(found, settings)) sidecars.push(locateAdmin(sidecar));
  return { found, by, sidecars, doubts };
}

async function here(settings: SidecarSettings, look: FindOptions): Promise<Omit<FoundSidecars, "sidecars">> {
  const { env, log } = look;
  const annotations = readAnnotations(settings.podAnnotations, look.before === undefined ? log : undefined);
  const pod = { env, annotations };
  const { isAuto, named } = settings.sidecar;
  const known = foundByName(pod, named);
  if (!isAuto) return { found: await placeEnvoy(known, pod, settings, look), by: "--sidecar", doubts: [] };
  if (isDescribed(settings, env)) return { found: known, by: known.length === 0 ? undefined : "--sidecar", doubts: [] };
  const { found, by, doubts } = await lookAround({ pod, known }, settings, look);
  if (by === undefined) return { found, by, doubts };
  if (look.before !== undefined && found.some(({ isSuggested }) => isSuggested)) return { found, by, doubts };
  const sidecars: string[] = [];
  let native = false;
  for (const { name, isNative } of found) {
    sidecars.push(name);
    native ||= isNative;
  }
  const isNews = look.before === undefined || look.before.map(({ name }) => name).join() !== sidecars.join();
  if (isNews) log.info({ sidecars, by, native }, "found");
  look.onFound?.(by);
  return { found, by, doubts };
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

type Looked = Detection & Pick<FoundSidecars, "doubts">;

interface Known {
  readonly pod: PodFacts;
  /** The sidecars that the user names beside `auto`. */
  readonly known: readonly FoundSidecar[];
}

/**
 * Looks at what listens, only if nothing else tells of the mesh's proxy and the network is the pod's own, until one is
 * found or time is up. Companions that are ready end this too: their own traffic goes through the proxy, so that it is
 * there by then.
 */
async function lookAround({ pod, known }: Known, settings: SidecarSettings, look: FindOptions): Promise<Looked> {
  const facts = { ...pod, atAdmin: await askAdmin(pod, settings, look) };
  const told = withNamed(detect({ ...facts, byPort: [] }), known);
  if (told.hasProxy) return { ...told, found: await placeEnvoy(told.found, pod, settings, look), doubts: [] };
  const isSilent = told.by !== undefined || look.before !== undefined;
  const network = await readNetwork(settings, pod.env);
  const listen = createPortProbe(pod, settings, { ...look, network });
  if (network !== "own") {
    if (!isSilent) look.log.info({ lookedMs: 0, reason: whyNoPort(network) }, "no sidecar found");
    return { ...told, doubts: (await listen()).doubts };
  }
  const start = performance.now();
  using companions = watch(look.forMs > 0 ? told.found : []);
  for (;;) {
    const { findings, doubts, tookMs } = await listen();
    if (findings.length > 0) return { ...withNamed(detect({ ...facts, byPort: findings }), known), doubts };
    const lookedMs = Math.round(performance.now() - start);
    const isOver = lookedMs >= look.forMs;
    if (isOver && !isSilent) await logNone(lookedMs, settings, look);
    if (isOver || companions.areReady()) return { ...told, doubts };
    look.signal.throwIfAborted();
    await Bun.sleep(Math.max(LOOK_PERIOD_MS, LOOK_REST * tookMs));
  }
}

/**
 * Logs that there is no sidecar in the pod's own network, and which other ports listen: a warning if one may well be a
 * sidecar's, and the command is about to act as if there were none.
 */
async function logNone(lookedMs: number, { appPort }: SidecarSettings, look: FindOptions): Promise<void> {
  const { otherPorts } = await import("./core/other-ports.ts"); // few need it
  const others = otherPorts(readListeners(look.log), isUsualPort, appPort);
  const isActing = look.forMs > 0 || look.actMs !== undefined;
  const { isSuspicious = false, ...fields } = others ?? {};
  look.log[isSuspicious && isActing ? "warn" : "info"]({ lookedMs, ...fields }, "no sidecar found");
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
