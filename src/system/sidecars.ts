import { readFileSync } from "node:fs";
import { detect, listeningPorts, parseAnnotations, withNative } from "../core/detect.ts";
import type { Environment } from "../core/option.ts";
import type { Settings } from "../core/options.ts";
import { type Annotations, planSidecars, type Sidecar } from "../core/sidecar.ts";
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
  const isDescribed = settings.admin === undefined && settings.ready.length > 0 && settings.quit.length > 0;
  if (isDescribed && (look.env["ISTIO_QUIT_API"] ?? look.env["ENVOY_KILL_API"]) === undefined)
    return planSidecars([], settings);
  const start = performance.now();
  for (;;) {
    const evidence = {
      env: look.env,
      admin: settings.admin,
      annotations,
      listening: readListening(look.log),
    };
    const { found, by } = detect(evidence);
    const waitedMs = Math.round(performance.now() - start);
    if (by !== undefined) {
      look.log.info(
        {
          sidecars: found.map(({ name }) => name),
          by,
          native: found.some(({ isNative }) => isNative),
        },
        "found",
      );
      return planSidecars(found, settings);
    }
    if (waitedMs >= look.forMs) {
      look.log.info({ lookedMs: waitedMs }, "no sidecar found");
      return planSidecars([], settings);
    }
    look.signal.throwIfAborted();
    await Bun.sleep(LOOK_PERIOD_MS);
  }
}

function readAnnotations(path: string): Annotations {
  return parseAnnotations(readIfThere(path) ?? "");
}

function readListening(log: Log): ReadonlySet<number> {
  const tables = [readIfThere("/proc/net/tcp"), readIfThere("/proc/net/tcp6")].filter((table) => table !== undefined);
  if (tables.length === 0) log.debug({}, "no /proc/net/tcp: ports that listen cannot be seen");
  return new Set(tables.flatMap(listeningPorts));
}

/** undefined: no such file, or not readable; either way it tells nothing. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
