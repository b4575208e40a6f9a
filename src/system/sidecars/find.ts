import type { Environment } from "../../core/base/environment.ts";
import type { Settings } from "../../core/cli/options.ts";
import {
  type Detection,
  detect,
  type Evidence,
  hasUserVariable,
  mayBeSidecar,
  parseAnnotations,
} from "../../core/sidecars/detect.ts";
import type { Annotations } from "../../core/sidecars/kinds/kind.ts";
import type { Stranger } from "../../core/sidecars/ownership/proof.ts";
import { type FoundSidecar, foundIn, planSidecars } from "../../core/sidecars/plan.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import { readSmall } from "../file.ts";
import type { Log } from "../output/log.ts";
import { createListenerReader } from "../process/sockets.ts";
import { locateAdmin } from "./admin-socket.ts";
import type { HeardProxies } from "./neighbourhood.ts";
import type { Neighbours } from "./neighbours.ts";
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
  /** How many ms the work that follows has in all: a proxy gets a quarter of them to say whose it is, at least 2 s. */
  readonly actMs?: number;
  /** Whether an earlier search has logged that there is no sidecar, and what is wrong with the annotations. */
  readonly isAgain?: boolean;
  /** Ends the search: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called with the evidence, in words for the log, if `auto` has found sidecars. */
  readonly onFound?: (by: string) => void;
  /** Called with each proxy that nothing proves to be this pod's. */
  readonly onStranger: (stranger: Stranger) => void;
}

/** The sidecars of this pod, and the requests that ebb sends them. */
export interface FoundSidecars {
  readonly found: readonly FoundSidecar[];
  /**
   * The requests for each of `found`, in the same order; after them those that only the user's options name (`custom`).
   */
  readonly sidecars: readonly Sidecar[];
}

/**
 * Finds the sidecars to wait for and to quit: those that `--sidecar` names or, with `auto`, those that annotations,
 * variables or listening ports tell of. With `auto` it looks until there is a proxy, or `forMs` is over. Resolves with
 * empty lists if it finds none; looks for none if the user says both what to wait for and what to quit. Logs what it
 * finds.
 */
export async function findSidecars(settings: SidecarSettings, look: FindOptions): Promise<FoundSidecars> {
  return planHere(await here(settings, look), settings);
}

/**
 * Plans the requests for each of the sidecars, with admin interfaces on Unix sockets as they are now (`locateAdmin`).
 */
export function planHere(found: readonly FoundSidecar[], settings: SidecarSettings): FoundSidecars {
  const sidecars: Sidecar[] = [];
  for (const sidecar of planSidecars(found, settings)) sidecars.push(locateAdmin(sidecar));
  return { found, sidecars };
}

async function here(settings: SidecarSettings, look: FindOptions): Promise<readonly FoundSidecar[]> {
  const { env, log } = look;
  const annotations = readAnnotations(settings.podAnnotations, look.isAgain === true ? undefined : log);
  if (settings.sidecar !== "auto") return foundIn({ env, annotations }, settings.sidecar);
  if (isDescribed(settings, env)) return [];
  const { found, by } = await lookAround({ env, admin: settings.admin, annotations }, settings, look);
  if (by === undefined) return found;
  const sidecars: string[] = [];
  let native = false;
  for (const { name, isNative } of found) {
    sidecars.push(name);
    native ||= isNative;
  }
  log.info({ sidecars, by, native }, "found");
  look.onFound?.(by);
  return found;
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
    (signalProcess.length > 0 || quit.some((one) => one === "none" || one.isMore !== true))
  );
}

/**
 * Looks at what listens, only if nothing else tells of the mesh's proxy, until one is found or time is up. Companions
 * that are ready end this too: their own traffic goes through the proxy, so that it is there by then.
 */
async function lookAround(
  facts: Omit<Evidence, "heard">,
  settings: SidecarSettings,
  look: FindOptions,
): Promise<Detection> {
  const told = detect({ ...facts, heard: [] });
  if (told.hasProxy) return told;
  const start = performance.now();
  const listen = createListening(facts, settings, look);
  using companions = watch(look.forMs > 0 ? told.found : []);
  for (;;) {
    const { heard, strangers, tookMs } = await listen();
    const detected = heard.length === 0 ? told : detect({ ...facts, heard });
    if (detected.hasProxy) return detected;
    const lookedMs = Math.round(performance.now() - start);
    const isOver = lookedMs >= look.forMs;
    if (isOver || companions.areReady()) {
      for (const stranger of strangers) look.onStranger(stranger);
      const isNothing = isOver && detected.by === undefined && look.isAgain !== true;
      if (isNothing) look.log.info({ lookedMs }, "no sidecar found");
      return detected;
    }
    look.signal.throwIfAborted();
    await Bun.sleep(Math.max(LOOK_PERIOD_MS, LOOK_REST * tookMs));
  }
}

interface Listened extends HeardProxies {
  /** How long it took to list the sockets. */
  readonly tookMs: number;
}

/** Creates a function that asks the listeners what they are. It loads the code for that once there is one to ask. */
function createListening(
  facts: Omit<Evidence, "heard">,
  settings: SidecarSettings,
  look: FindOptions,
): () => Promise<Listened> {
  let neighbours: Neighbours | undefined;
  const read = createListenerReader(look.log);
  return async () => {
    const start = performance.now();
    const listeners = read();
    const tookMs = performance.now() - start;
    if (!listeners.some(mayBeSidecar)) return { heard: [], strangers: [], tookMs };
    neighbours ??= (await import("./neighbours.ts")).createNeighbours({ ...facts, settings });
    return {
      ...(await neighbours.hear(listeners, { signal: look.signal, isLast: look.forMs === 0, actMs: look.actMs })),
      tookMs,
    };
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
      whenReady(probe, stop.signal, { onNotReady: () => undefined, hearsAll: false }).then(
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
