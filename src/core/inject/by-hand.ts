import { objectOf, textsOf } from "../base/json.ts";
import { baseName } from "../base/text.ts";
import { kindOf, sidecarNames } from "../sidecars/registry.ts";
import { commandsIn } from "./script.ts";

/** What a container's own preStop hook does. */
export type HookKind =
  /** It only sleeps: `sleep N`, by a shell or not, or the action `sleep`. */
  | { readonly kind: "sleep"; readonly seconds: number }
  /** It asks a sidecar to drain or to quit. */
  | { readonly kind: "asks-sidecar"; readonly path: string }
  /** ebb's own, or a known injector's. */
  | { readonly kind: "known" }
  | { readonly kind: "other" };

/** Knative's queue-proxy: serving v1.18 pkg/reconciler/revision/resources/deploy.go, userLifecycle. */
const KNATIVE_PATH = "/wait-for-drain";

/** Returns what a preStop hook does. `hook` is the manifest's LifecycleHandler. */
export function kindOfHook(hook: unknown): HookKind {
  const { exec, httpGet, sleep } = objectOf(hook);
  const { seconds } = objectOf(sleep);
  if (typeof seconds === "number") return { kind: "sleep", seconds };
  const { path, port } = objectOf(httpGet);
  if (path === KNATIVE_PATH) return { kind: "known" };
  const words = textsOf(objectOf(exec).command);
  if (isEbb(words)) return { kind: "known" };
  const slept = secondsSlept(words);
  if (slept !== undefined) return { kind: "sleep", seconds: slept };
  const asked = typeof path === "string" ? sidecarPathIn(`:${port}${path}`) : asksSidecar(words.join(" "));
  return asked === undefined ? { kind: "other" } : { kind: "asks-sidecar", path: asked };
}

/** Reports whether a hook runs ebb, or drains with it in a shell's script. */
function isEbb(words: readonly string[]): boolean {
  return baseName(words[0] ?? "") === "ebb" || /(^|[\s/;&|(])ebb\s+drain\b/.test(scriptIn(words) ?? "");
}

const shell = /(^|\/)(ba|da|a|z|k)?sh$/;

/** Returns the shell's script in a command line such as `sh -c SCRIPT` or `bash -ce -- SCRIPT`; undefined if there is none. */
export function scriptIn([program = "", ...rest]: readonly string[]): string | undefined {
  if (!shell.test(program)) return undefined;
  const at = rest.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word));
  if (at < 0) return undefined;
  return rest[at + 1] === "--" ? rest[at + 2] : rest[at + 1];
}

/** The seconds of each suffix of sleep(1). */
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsSlept(words: readonly string[]): number | undefined {
  const text = scriptIn(words) ?? words.join(" ");
  const match = /^\s*(?:exec\s+)?(?:\S*\/)?sleep\s+(\d+(?:\.\d+)?)([smhd]?)\s*;?\s*$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (units[match[2] as string] ?? 1);
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
  const place = path === shutdown?.pathname ? `[^\\s"'/]*:${shutdown.port}/` : `([^\\s"'/]*/)?`;
  return [path, new RegExp(`(^|[\\s"'])([^\\s"'/]*//)?${place}${path.slice(1)}($|[\\s?"'&|;)])`)] as const;
});

/** Returns the path of a known sidecar's quit or drain that is in the text, with no folder before it. */
function sidecarPathIn(text: string): string | undefined {
  return sidecarPaths.find(([, mark]) => mark.test(text))?.[0];
}

/** Commands that only wait, look or print, whatever their arguments are. */
const waiting = /^(sleep|wait|pgrep|pidof|ps|test|\[|\[\[|true|false|:|echo|printf|date|seq|for|break|set|exit)$/;
const loopback = /^(https?:\/\/)?(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?].*)?$/;
/** An HTTP client's flag, or the value of one, that names neither a file nor a host. */
const plain = /^(-[\w-]*(=[\w.]*)?|[A-Z]*|\d+|\/dev\/null|%.*)$/;

/**
 * Reports whether a container only waits, and then asks a sidecar to quit: by a shell's script whose every command waits,
 * prints or asks in this pod. Returns the path that it asks, or undefined.
 */
export function quitterPath(command: readonly string[], args: readonly string[]): string | undefined {
  const commands = commandsIn(scriptIn([...command, ...args]) ?? "");
  if (commands?.every(waitsOrAsks) !== true) return undefined;
  const paths = commands.map((words) => asksSidecar(words.join(" ")));
  return paths[0] === undefined ? paths.find((path) => path !== undefined) : undefined;
}

function waitsOrAsks([program = "", ...args]: readonly string[]): boolean {
  if (program === "kill") return args[0] === "-0";
  if (program === "grep")
    return args.some((arg) => /^-\w*q/.test(arg)) || args.filter((arg) => !/^-/.test(arg)).length < 2;
  if (program === "tail") return args.every((arg) => /^(-.*|\/dev\/null)$/.test(arg));
  if (program === "curl" || program === "wget")
    return args.some((arg) => loopback.test(arg)) && args.every((arg) => loopback.test(arg) || plain.test(arg));
  return waiting.test(program) || (clients.includes(program) && /^(request|wait)$/.test(args[0] ?? ""));
}
