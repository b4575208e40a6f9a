import { type Place, urlOf } from "./place.ts";
import type { Flags, Plan } from "./plan/planned.ts";

/** The file of a pod's annotations, by which Istio's sidecar is a native one. */
export const NATIVE = `sidecar.istio.io/status=${JSON.stringify(JSON.stringify({ initContainers: ["istio-proxy"], containers: [] }))}\n`;

/** The surroundings of a command line. */
interface Around {
  readonly place: Place;
  /** The application, and its arguments before its steps. */
  readonly app: readonly string[];
  /** The path of a file with the pod's annotations. */
  readonly annotations: string;
}

/** Returns ebb's arguments for a plan. */
export function callLine(plan: Plan, { place, app, annotations }: Around): readonly string[] {
  const { command, flags } = plan;
  const pod = plan.isNative ? ["--pod-annotations", annotations] : [];
  const common = ["--log-level", flags.logLevel, ...pod, ...sidecarFlags(plan, urlOf(place), "unix" in place)];
  switch (command) {
    case "run":
      return ["run", ...common, ...runFlags(flags), "--", ...appWords(plan, app)];
    case "wait": {
      const words = appWords(plan, app);
      return ["wait", ...common, ...waitFlags(flags), ...(words.length === 0 ? [] : ["--", ...words])];
    }
    case "drain": {
      const { drainMs, minDrainMs, maxInFlight, thenQuit, quitMs } = flags;
      const limits = ["--drain", `${drainMs}ms`, "--min-drain", `${minDrainMs}ms`, "--max-in-flight", `${maxInFlight}`];
      return ["drain", ...common, ...limits, ...(thenQuit ? ["--then-quit", "--quit-timeout", `${quitMs}ms`] : [])];
    }
    case "quit":
      return ["quit", ...common, "--quit-timeout", `${flags.quitMs}ms`];
  }
}

function appWords({ app: { kind, steps } }: Plan, app: readonly string[]): readonly string[] {
  switch (kind) {
    case "none":
      return [];
    case "not found":
      return ["/no/such/program"];
    case "not executable":
      return ["/etc/passwd"];
    case "steps":
      return [...app, ...steps];
  }
}

function sidecarFlags({ sidecar, command, flags }: Plan, url: string, isUnix: boolean): readonly string[] {
  const path = (name: string) => (isUnix ? undefined : `${url}${name}`);
  const admin = ["--admin", url];
  const hasQuit = command !== "wait" && (command !== "drain" || flags.thenQuit) && !isUnix;
  const quit = hasQuit ? ["--quit", `${url}/quitquitquit`] : [];
  switch (sidecar) {
    case "auto":
      return admin;
    case "istio":
      return isUnix ? ["--sidecar", "envoy", ...admin] : ["--sidecar", "istio", ...admin, ...quit];
    case "custom":
      return isUnix
        ? ["--sidecar", "envoy", ...admin]
        : ["--sidecar", "none", "--ready", path("/ready") as string, ...quit];
    default:
      return ["--sidecar", sidecar, ...admin];
  }
}

function waitFlags({ waitMs, onWaitTimeout }: Flags): readonly string[] {
  return ["--wait-timeout", `${waitMs}ms`, "--on-wait-timeout", onWaitTimeout];
}

function runFlags(flags: Flags): readonly string[] {
  const words = [...waitFlags(flags), "--quit-on", flags.quitOn, "--quit-timeout", `${flags.quitMs}ms`];
  if (flags.noWait) words.push("--no-wait");
  if (flags.restartPolicy !== undefined) words.push("--restart-policy", flags.restartPolicy);
  if (flags.drainMs > 0) words.push("--drain", `${flags.drainMs}ms`, "--min-drain", `${flags.minDrainMs}ms`);
  if (flags.drainMs > 0) words.push("--max-in-flight", `${flags.maxInFlight}`);
  if (flags.graceMs !== undefined) words.push("--grace", `${flags.graceMs}ms`);
  if (flags.isGroup) words.push("--signal-group");
  for (const [from, to] of flags.rewrite) words.push("--rewrite-signal", `${from}:${to}`);
  if (flags.expectExit.length > 0) words.push("--expect-exit", flags.expectExit.join(","));
  return words;
}
