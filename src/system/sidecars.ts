import type { Environment } from "../core/option.ts";
import type { Settings } from "../core/options.ts";
import { type Detection, detect, type Evidence, listeningPorts, parseAnnotations } from "../core/sidecars/detect.ts";
import type { Annotations } from "../core/sidecars/kind.ts";
import { type FoundSidecar, foundIn, planSidecars } from "../core/sidecars/plan.ts";
import type { Sidecar } from "../core/sidecars/sidecar.ts";
import { locate } from "./admin-socket.ts";
import { readIfThere } from "./file.ts";
import type { Log } from "./log.ts";
import { whenReady } from "./ready.ts";

const LOOK_PERIOD_MS = 9;

export type SidecarSettings = Settings<"sidecar" | "admin" | "ready" | "quit" | "podAnnotations"> &
  Partial<Settings<"signalProcess" | "readyPath">>;

export interface Look {
  readonly env: Environment;
  /** How long to look for sidecars that may not be there yet; 0: once. */
  readonly forMs: number;
  /** That there was none has been said. */
  readonly isAgain?: boolean;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called with what told of the sidecars, where `auto` has found some. */
  readonly onFound?: (by: string) => void;
}

/** The sidecars to wait for and to quit: those that are named, or those that `auto` finds. */
export async function findSidecars(settings: SidecarSettings, look: Look): Promise<readonly Sidecar[]> {
  const planned = planSidecars(await here(settings, look), settings);
  const sidecars: Sidecar[] = [];
  for (const sidecar of planned) sidecars.push(locate(sidecar));
  return sidecars;
}

async function here(settings: SidecarSettings, look: Look): Promise<readonly FoundSidecar[]> {
  const { env, log } = look;
  const annotations = readAnnotations(settings.podAnnotations);
  if (settings.sidecar !== "auto") return foundIn({ env, annotations }, settings.sidecar);
  if (isDescribed(settings, env)) return [];
  const { found, by } = await lookAround({ env, admin: settings.admin, annotations }, look);
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

function readAnnotations(path: string): Annotations {
  const text = readIfThere(path);
  return text === undefined ? new Map() : parseAnnotations(text);
}

/** Whether the user says both what to wait for and what to quit, so that nothing is left to be found. */
function isDescribed({ admin, ready, quit, signalProcess = [] }: SidecarSettings, env: Environment): boolean {
  const isNamed = admin !== undefined || (env.ISTIO_QUIT_API ?? env.ENVOY_KILL_API) !== undefined;
  return !isNamed && ready.length > 0 && (signalProcess.length > 0 || quit.some(({ isMore }) => isMore !== true));
}

/**
 * Looks at the ports that listen only where nothing else tells of the mesh's proxy, until one listens or time is up. Companions
 * that are ready end the look too: their own traffic goes through the proxy, so that it is there by then.
 */
async function lookAround(evidence: Omit<Evidence, "listening">, look: Look): Promise<Detection> {
  const told = detect({ ...evidence, listening: new Set() });
  if (told.hasProxy) return told;
  const start = performance.now();
  using companions = watch(look.forMs > 0 ? told.found : []);
  for (;;) {
    const heard = detect({ ...evidence, listening: readListening(look.log) });
    if (heard.hasProxy || companions.areReady()) return heard;
    const lookedMs = Math.round(performance.now() - start);
    if (lookedMs >= look.forMs) {
      if (heard.by === undefined && look.isAgain !== true) look.log.info({ lookedMs }, "no sidecar found");
      return heard;
    }
    look.signal.throwIfAborted();
    await Bun.sleep(LOOK_PERIOD_MS);
  }
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
      whenReady(probe, stop.signal, () => undefined).then(
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

function readListening(log: Log): ReadonlySet<number> {
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  if (tables.length === 0) log.debug({}, "no /proc/net/tcp: ports that listen cannot be seen");
  return new Set(tables.flatMap(listeningPorts));
}
