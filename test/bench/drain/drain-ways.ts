import { dirname } from "node:path";
import { ebbPath } from "../../harness.ts";

/** Which program drains. */
export type Drainer = "ebb" | "envoy-gateway" | "contour" | "sleep" | "none";

/** A way to let an Envoy go, as the preStop hooks of its pod have it. */
export interface Way {
  readonly name: string;
  readonly by: Drainer;
  readonly flags: readonly string[];
  /** The hooks and Envoy are killed then. */
  readonly graceMs: number;
  /** Envoy closes HTTP connections that are idle so long; without it, after an hour, Envoy's own default. */
  readonly idleTimeout?: string;
}

const none: Way = { name: "no hook", by: "none", flags: [], graceMs: 20_000 };
const sleep: Way = { name: "sleep 5", by: "sleep", flags: ["5"], graceMs: 20_000 };

/** A minimum of 1 s, and a bound of 15 s where there is one; no idle connection ends by itself meanwhile. */
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

/** As they come: Contour has its Envoys close idle connections (contour v1.33.8, pkg/config/parameters.go, ConnectionIdleTimeout). */
export const asTheyCome: readonly Way[] = [
  { name: "ebb", by: "ebb", flags: [], graceMs: 80_000 },
  { name: "Envoy Gateway", by: "envoy-gateway", flags: [], graceMs: 80_000 },
  { name: "Contour", by: "contour", flags: [], graceMs: 80_000, idleTimeout: "60s" },
  sleep,
];

/** With what loses the most. */
export const underLoad: readonly Way[] = [none, ...asTheyCome.toReversed()];

/** What a way runs in its pod. */
export interface Hooks {
  /** The preStop hook that drains; it runs in the manager's mount namespace, where there is one. */
  readonly drain: readonly string[];
  /** The container beside Envoy, whose answer Envoy's own preStop hook waits for. */
  readonly manager?: {
    readonly words: readonly string[];
    readonly cwd: string;
    readonly health: string;
    readonly ready: string;
  };
}

export interface Places {
  /** The program's executable. */
  readonly path: string;
  /** A folder of this pod. */
  readonly folder: string;
  /** Envoy's admin interface, as ebb takes it. */
  readonly admin: string;
}

/** Contour asks for it on a unix socket only, Envoy Gateway at this port only. */
export function adminOf(by: Drainer, folder: string) {
  return by === "contour" ? { path: `${folder}/admin.sock` } : { host: "127.0.0.1", port: 19000 };
}

/** As they are told in their own manifests (contour examples/contour/03-envoy.yaml, gateway internal/infrastructure/kubernetes/proxy). */
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

/** The hook as one would type it. */
export function shown({ by, flags }: Way): string {
  const name = { ebb: "ebb drain", "envoy-gateway": "envoy-gateway envoy shutdown", contour: "contour envoy shutdown" };
  return by === "none" ? "" : [by === "sleep" ? by : name[by], ...flags].join(" ");
}
