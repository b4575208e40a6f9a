import { objectOf, textsOf } from "../../../../shared/core/json.ts";
import { baseName } from "../../../../shared/core/text.ts";
import { kindOf, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { readable } from "../../../core/readable.ts";
import type { Container } from "../pod.ts";

/** What a container's own preStop hook does. */
export type HookKind =
  /** A drain may take its place: it only sleeps. `shown`: `sleep 20`, for `sleep N` by a shell or not, or the action `sleep`. */
  | { readonly kind: "replaceable"; readonly shown: string; readonly seconds: number }
  /** A proxy's: a shell looks at the listening ports until only the proxy's own are left, so that it outlives the apps. */
  | { readonly kind: "waits-for-apps" }
  /** It asks a sidecar to drain or to quit. */
  | { readonly kind: "asks-sidecar"; readonly path: string }
  /** It runs `ebb hold`. */
  | { readonly kind: "holds" }
  /** Another one of ebb's own, or a known injector's. */
  | { readonly kind: "known" }
  | { readonly kind: "other" };

/** Knative's queue-proxy: serving v1.18 pkg/reconciler/revision/resources/deploy.go, userLifecycle. */
const KNATIVE_PATH = "/wait-for-drain";

/** Returns what a preStop hook does. `hook` is the manifest's LifecycleHandler. One that is too long to read is `other`. */
export function kindOfHook(hook: unknown): HookKind {
  const { exec, httpGet, sleep } = objectOf(hook);
  const { seconds } = objectOf(sleep);
  if (typeof seconds === "number") return asleep(seconds);
  const { path, port } = objectOf(httpGet);
  if (path === KNATIVE_PATH) return { kind: "known" };
  const words = readable(textsOf(objectOf(exec).command));
  const own = ofEbb(words);
  if (own !== undefined) return own;
  const slept = secondsSlept(words);
  if (slept !== undefined) return asleep(slept);
  if (waitsForApps(words)) return { kind: "waits-for-apps" };
  const sidecarPath =
    typeof path === "string" ? sidecarPathIn(readable([`:${port}${path}`]).join()) : asksSidecar(words.join(" "));
  return sidecarPath === undefined ? { kind: "other" } : { kind: "asks-sidecar", path: sidecarPath };
}

function asleep(seconds: number): HookKind {
  return { kind: "replaceable", shown: `sleep ${seconds}`, seconds };
}

/** Returns what a hook does that runs ebb, or that drains or holds with it in a shell's script; undefined for any other. */
function ofEbb(words: readonly string[]): HookKind | undefined {
  const inScript = /(^|[\s/;&|(])ebb\s+(drain|hold)\b/.exec(scriptIn(words) ?? "")?.[2];
  const command = baseName(words[0] ?? "") === "ebb" ? (words[1] ?? "") : inScript;
  if (command === undefined) return undefined;
  return { kind: command === "hold" ? "holds" : "known" };
}

const shell = /(^|\/)(ba|da|a|z|k)?sh$/;

/** Returns the shell's script in a command line such as `sh -c SCRIPT` or `bash -ce -- SCRIPT`; undefined if there is none. */
export function scriptIn([program = "", ...rest]: readonly string[]): string | undefined {
  if (!shell.test(program)) return undefined;
  const at = rest.findIndex((word) => /^-[a-z]+$/.test(word) && word.includes("c"));
  if (at < 0) return undefined;
  return rest[at + 1] === "--" ? rest[at + 2] : rest[at + 1];
}

/** The seconds of each suffix of sleep(1). */
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsSlept(words: readonly string[]): number | undefined {
  const text = (scriptIn(words) ?? words.join(" ")).trim();
  const parts = (text.endsWith(";") ? text.slice(0, -1).trim() : text).split(/\s+/);
  const [program = "", time = "", ...more] = parts[0] === "exec" ? parts.slice(1) : parts;
  const [, seconds, unit = ""] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(time) ?? [];
  if (baseName(program) !== "sleep" || seconds === undefined || more.length > 0) return undefined;
  return Number(seconds) * (units[unit] ?? 1);
}

/** How many sockets of others than the proxy listen: `netstat -plunt | grep tcp | grep -v envoy | wc -l | xargs`. */
const others = String.raw`(netstat|ss) -\w+( \| e?grep( -\w+)* ('[\w|-]+'|"[\w|-]+"|\w[\w-]*))+ \| wc -l( \| xargs)?`;
/** As users of Istio write it (istio#7136, istio#36517), with a sleep before it or not. */
const loop = new RegExp(
  String.raw`^(sleep \d+[smh]?(;| &&) )?while \[ "?\$\(${others}\)"? (-ne|-gt|!=) 0 \]; do sleep \d+[smh]?;? done;?$`,
);

function waitsForApps(words: readonly string[]): boolean {
  const script = (scriptIn(words) ?? "").trim().replace(/\s+/g, " ");
  return loop.test(script) && / -E?v ['"]?[\w|-]*envoy/.test(script);
}

/** The programs that ask: HTTP clients, and the agents beside the Envoys. */
const clients = ["curl", "wget", ...sidecarNames.flatMap((name) => kindOf(name).agent?.name ?? [])];
const asking = new RegExp(`(^|[\\s/(;&|"'])(${clients.join("|")})\\s`);

/** Returns the path at which a command asks a sidecar to drain or quit. */
function asksSidecar(text: string): string | undefined {
  return asking.test(text) ? sidecarPathIn(text) : undefined;
}

const kinds = sidecarNames.map(kindOf);
/** The paths of the known sidecars' quits and drains. */
const ownPaths = kinds.flatMap(({ quitPath, quit, drainPath }) => [
  quitPath ?? new URL(quit).pathname,
  ...(drainPath === undefined ? [] : [drainPath.split("?")[0] as string]),
]);
/** Where many an app has a path of its own, too, the port says whose it is. */
const shutdown = kinds.map(({ quit }) => new URL(quit)).find(({ pathname }) => pathname === "/shutdown");
const sidecarPaths = [...new Set([...ownPaths, "/graceful_shutdown", "/healthcheck/fail"])].map((path) => {
  const host = path === shutdown?.pathname ? `[^\\s"'/]*:${shutdown.port}/` : `([^\\s"'/]*/)?`;
  return [path, new RegExp(`(^|[\\s"'])([^\\s"'/]*//)?${host}${path.slice(1)}($|[\\s?"'&|;)])`)] as const;
});

/** Returns the path of a known sidecar's quit or drain that is in the text, with no folder before it. */
function sidecarPathIn(text: string): string | undefined {
  return sidecarPaths.find(([path, mark]) => text.includes(path.slice(1)) && mark.test(text))?.[0];
}

/**
 * Returns the path at which a container asks a sidecar to quit, if that request is its whole command: `curl -X POST
 * localhost:15020/quitquitquit`, by a shell or not. Returns undefined for any other.
 */
export function pathAsked({ command, args }: Container): string | undefined {
  const words = readable([...(command ?? []), ...(args ?? [])]);
  const script = scriptIn(words);
  if (script !== undefined && /[;&|`$\n]/.test(script.trim())) return undefined;
  const text = script ?? words.join(" ");
  const [program = ""] = text.trim().split(/\s/, 1);
  return clients.includes(baseName(program)) ? sidecarPathIn(text) : undefined;
}
