import { dirname } from "node:path";
import { ebbPath } from "../../harness/ebb.ts";

/** The program that drains. */
export type Drainer = "ebb" | "envoy-gateway" | "contour" | "sleep" | "none";

/** A way to end an Envoy by the preStop hooks of its pod. */
export interface Way {
  readonly name: string;
  readonly by: Drainer;
  /** The program's flags. */
  readonly flags: readonly string[];
  /** The time, in ms, after which the hooks and Envoy are killed. */
  readonly graceMs: number;
  /** The time after which Envoy closes idle HTTP connections; by default an hour, as in Envoy. */
  readonly idleTimeout?: string;
}

const none: Way = { name: "no hook", by: "none", flags: [], graceMs: 20_000 };
const sleep: Way = { name: "sleep 5", by: "sleep", flags: ["5"], graceMs: 20_000 };

/**
 * The ways with alike settings: a minimum of 1 s and, if they have one, a bound of 15 s; no idle connection ends by
 * itself.
 */
export const alike: readonly Way[] = [
  { name: "ebb, 1 s", by: "ebb", flags: ["--min-drain", "1s", "--drain", "15s"], graceMs: 20_000 },
  {
    name: "Envoy Gateway, 1 s",
    by: "envoy-gateway",
    flags: ["--min-drain-duration", "1s", "--drain-timeout", "15s"],
    graceMs: 20_000,
  },
  { name: "Contour, 1 s", by: "contour", flags: ["--check-delay", "1s", "--check-interval", "1s"], graceMs: 20_000 },
  sleep,
];

/**
 * The ways with their defaults. Contour's Envoys close idle connections (v1.33.8, pkg/config/parameters.go,
 * ConnectionIdleTimeout).
 */
export const asTheyCome: readonly Way[] = [
  { name: "ebb", by: "ebb", flags: [], graceMs: 80_000 },
  { name: "Envoy Gateway", by: "envoy-gateway", flags: [], graceMs: 80_000 },
  { name: "Contour", by: "contour", flags: [], graceMs: 80_000, idleTimeout: "60s" },
  sleep,
];

/** The ways under load: no hook at all, and the defaults. */
export const underLoad: readonly Way[] = [none, ...asTheyCome.toReversed()];

/** The programs of a way in its pod. */
export interface Hooks {
  /** The preStop hook that drains; if there is a manager it runs in the manager's mount namespace. */
  readonly drain: readonly string[];
  /** The container beside Envoy for whose answer Envoy's own preStop hook waits. */
  readonly manager?: {
    readonly words: readonly string[];
    readonly cwd: string;
    readonly health: string;
    readonly ready: string;
  };
}

interface Places {
  /** The path of the program. */
  readonly path: string;
  /** A folder of this pod. */
  readonly folder: string;
  /** Envoy's admin interface, as a value for ebb's --admin. */
  readonly admin: string;
}

/** Returns the admin address that a program needs: Contour asks only a Unix socket, Envoy Gateway only this port. */
export function adminOf(by: Drainer, folder: string) {
  return by === "contour" ? { path: `${folder}/admin.sock` } : { host: "127.0.0.1", port: 19000 };
}

/**
 * Returns the programs of a way as in their own manifests (contour examples/contour/03-envoy.yaml, gateway
 * internal/infrastructure/kubernetes/proxy).
 */
export function hooksOf({ by, flags }: Way, { path, folder, admin }: Places): Hooks {
  const cwd = dirname(path);
  switch (by) {
    case "none":
      return { drain: ["true"] };
    case "sleep":
      return { drain: ["sleep", ...flags] };
    case "ebb":
      return { drain: [ebbPath, "drain", "--admin", admin, ...flags] };
    case "envoy-gateway": {
      // both write and read /tmp/shutdown-ready
      const words = ["sh", "-ec", 'mount -t tmpfs tmpfs /tmp; exec "$@"', "", "./envoy-gateway", "envoy"];
      const ready = "http://127.0.0.1:19002/shutdown/ready";
      return {
        drain: ["./envoy-gateway", "envoy", "shutdown", ...flags],
        manager: { words: [...words, "shutdown-manager"], cwd, health: "http://127.0.0.1:19002/healthz", ready },
      };
    }
    case "contour": {
      const file = ["--ready-file", `${folder}/ok`];
      const where = ["--admin-address", admin.replace("unix:", "")];
      const words = ["./contour", "envoy", "shutdown-manager", ...file];
      return {
        drain: ["./contour", "envoy", "shutdown", ...where, ...file, ...flags],
        manager: { words, cwd, health: "http://127.0.0.1:8090/healthz", ready: "http://127.0.0.1:8090/shutdown" },
      };
    }
  }
}

/** Returns the hook that drains as somebody would type it; "" if there is none. */
export function shown({ by, flags }: Way): string {
  const name = { ebb: "ebb drain", "envoy-gateway": "envoy-gateway envoy shutdown", contour: "contour envoy shutdown" };
  return by === "none" ? "" : [by === "sleep" ? by : name[by], ...flags].join(" ");
}
