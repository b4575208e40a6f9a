import { type Detection, detect, type Evidence, listeningPorts, parseAnnotations, withNative } from "../core/detect.ts";
import type { Environment } from "../core/option.ts";
import type { Settings } from "../core/options.ts";
import { type Annotations, planSidecars, type Sidecar } from "../core/sidecar.ts";
import { readIfThere } from "./file.ts";
import type { Log } from "./log.ts";

const LOOK_PERIOD_MS = 9;

export type SidecarSettings = Settings<"sidecar" | "admin" | "ready" | "quit" | "podAnnotations">;

export interface Look {
  readonly env: Environment;
  /** How long to look for sidecars that may not be there yet; 0: once. */
  readonly forMs: number;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The sidecars to wait for and to quit: those that are named, or those that `auto` finds. */
export async function findSidecars(settings: SidecarSettings, look: Look): Promise<readonly Sidecar[]> {
  const annotations = readAnnotations(settings.podAnnotations);
  if (settings.sidecar !== "auto") return planSidecars(withNative(settings.sidecar, annotations), settings);
  if (isDescribed(settings, look.env)) return planSidecars([], settings);
  const { found, by } = await lookAround({ env: look.env, admin: settings.admin, annotations }, look);
  if (by !== undefined) {
    const sidecars: string[] = [];
    let native = false;
    for (const { name, isNative } of found) {
      sidecars.push(name);
      native ||= isNative;
    }
    look.log.info({ sidecars, by, native }, "found");
  }
  return planSidecars(found, settings);
}

function readAnnotations(path: string): Annotations {
  const text = readIfThere(path);
  return text === undefined ? new Map() : parseAnnotations(text);
}

/** Whether the user's URLs say both what to wait for and what to quit, so that nothing is left to be found. */
function isDescribed({ admin, ready, quit }: SidecarSettings, env: Environment): boolean {
  const isNamed = admin !== undefined || (env.ISTIO_QUIT_API ?? env.ENVOY_KILL_API) !== undefined;
  return !isNamed && ready.length > 0 && quit.some(({ isMore }) => isMore !== true);
}

/** Looks at the ports that listen only where nothing else tells, and until something listens or time is up. */
async function lookAround(evidence: Omit<Evidence, "listening">, look: Look): Promise<Detection> {
  const told = detect({ ...evidence, listening: new Set() });
  if (told.by !== undefined) return told;
  const start = performance.now();
  for (;;) {
    const heard = detect({ ...evidence, listening: readListening(look.log) });
    if (heard.by !== undefined) return heard;
    const lookedMs = Math.round(performance.now() - start);
    if (lookedMs >= look.forMs) {
      look.log.info({ lookedMs }, "no sidecar found");
      return heard;
    }
    look.signal.throwIfAborted();
    await Bun.sleep(LOOK_PERIOD_MS);
  }
}

function readListening(log: Log): ReadonlySet<number> {
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  if (tables.length === 0) log.debug({}, "no /proc/net/tcp: ports that listen cannot be seen");
  return new Set(tables.flatMap(listeningPorts));
}
