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
/** After a look that took a while, so many times that: where only /proc tells, looking takes at most a twentieth of a core. */
const LOOK_REST = 20;

export type SidecarSettings = Settings<
  "sidecar" | "admin" | "ready" | "quit" | "podAnnotations" | "hostNetwork" | "appPort"
> &
  Partial<Settings<"signalProcess" | "readyPath">>;

export interface FindOptions {
  readonly env: Environment;
  /** How long to look for sidecars that may not be there yet; 0: once. */
  readonly forMs: number;
  /** How long what is meant to be done to them may take in all. */
  readonly actMs?: number;
  /** That there was none has been said. */
  readonly isAgain?: boolean;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called with what told of the sidecars, where `auto` has found some. */
  readonly onFound?: (by: string) => void;
  /** Called with each proxy that nothing proves to be this pod's. */
  readonly onStranger: (stranger: Stranger) => void;
}

/** What was found, and what is asked of each; what the user alone has said comes after those. */
export interface FoundSidecars {
  readonly found: readonly FoundSidecar[];
  readonly sidecars: readonly Sidecar[];
}

/** Finds the sidecars to wait for and to quit: those that are named, or those that `auto` detects within `forMs`. */
export async function findSidecars(settings: SidecarSettings, look: FindOptions): Promise<FoundSidecars> {
  return planHere(await here(settings, look), settings);
}

/** Plans the requests for each of the sidecars; `locateAdmin` finds their addresses. */
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
 * Reads the pod's annotations from the file of the downward API; empty where there is none. Logs a warning where it cannot be
 * read.
 */
export function readAnnotations(path: string, log?: Log): Annotations {
  const text = readSmall(path, MOST_ANNOTATIONS_MIB);
  if (typeof text === "object") log?.warn({ path, reason: text.reason }, "cannot read the pod's annotations");
  return typeof text === "string" ? parseAnnotations(text) : new Map();
}

/** Whether the user says both what to wait for and what to quit, so that nothing is left to be found. */
function isDescribed({ admin, ready, quit, signalProcess = [] }: SidecarSettings, env: Environment): boolean {
  const isNamed = admin !== undefined || hasUserVariable(env);
  return (
    !isNamed &&
    ready.length > 0 &&
    (signalProcess.length > 0 || quit.some((one) => one === "none" || one.isMore !== true))
  );
}

/**
 * Looks at what listens only where nothing else tells of the mesh's proxy, until one is found or time is up. Companions that are
 * ready end the look too: their own traffic goes through the proxy, so that it is there by then.
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
  /** What the look at the sockets took. */
  readonly tookMs: number;
}

/** Creates what asks the listeners who they are. The code that asks is loaded when there is one to ask. */
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
  /** Never where there is nobody to ask. */
  readonly areReady: () => boolean;
}

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
        () => undefined, // the look is over
      );
    }
  }
  const isAsked = missing > 0;
  return { areReady: () => isAsked && missing === 0, [Symbol.dispose]: () => stop.abort() };
}

const noUrls = { admin: undefined, ready: [], quit: [] };
