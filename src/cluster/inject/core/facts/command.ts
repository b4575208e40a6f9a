import { initNames, toolNames } from "../../../../shared/cli/core/names.ts";
import { baseName } from "../../../../shared/core/text.ts";
import { scriptIn } from "./existing-hooks.ts";

/** The path of ebb in the containers that it starts. */
export const EBB = "/ebb.dev/ebb";
/** The folder at which the volume with ebb is mounted. */
export const EBB_FOLDER = "/ebb.dev";

/** The tools that ebb replaces. pilot-agent is Istio's proxy, and what it starts is no child of the app's. */
const replaced = toolNames.filter((name) => name !== "pilot-agent");
/** What starts a command, and does no more than ebb. */
const starters = [...replaced, ...initNames];

/** What a container's command starts first. */
type Starter =
  | { readonly kind: "app" }
  /** A tool that ebb replaces, such as scuttle. */
  | { readonly kind: "tool"; readonly name: string; readonly path: string }
  /** An ebb of the image's own. `runs`: it starts a command, as `ebb run` does. */
  | { readonly kind: "ebb"; readonly runs: boolean };

/**
 * Tells from the first two words of a container's command what it starts first: the app, ebb, or a tool that ebb
 * replaces.
 */
export function starterOf([path = "", second = ""]: readonly string[]): Starter {
  const file = baseName(path);
  if (file === "ebb") return { kind: "ebb", runs: second === "run" || replaced.includes(second) };
  if (replaced.includes(file)) return { kind: "tool", name: file, path };
  return { kind: "app" };
}

/** Why an init cannot be ebb's child. */
export const MUST_BE_FIRST = "must be PID 1";

/** Reports whether a program is s6-overlay's or systemd's init. */
export function isInit(path: string): boolean {
  return /^(\/init|(\/usr)?\/(sbin\/init|lib\/systemd\/systemd))$/.test(path);
}

/** A tool or init in a command, where ebb does not take its place. */
interface InnerStarter {
  readonly name: string;
  /** What starts it: a shell, an init or another tool. */
  readonly outer: string;
}

/** Finds a tool or an init that a command runs inside a shell, or behind another one. */
export function innerStarterOf(words: readonly string[]): InnerStarter | undefined {
  const [path = "", ...rest] = words;
  const outer = baseName(path);
  const script = scriptIn(words);
  if (script !== undefined) {
    const name = startedIn(script);
    return name === undefined ? undefined : { name, outer };
  }
  if (!starters.includes(outer)) return undefined;
  const inner = withoutFlags(rest);
  const name = baseName(inner[0] ?? "");
  return starters.includes(name) ? { name, outer } : innerStarterOf(inner);
}

/** Returns the tool or init that begins a command of a shell's script, after `exec` and variables. */
function startedIn(script: string): string | undefined {
  const programs = script.split(/[;&|(\n]/).map((part) => {
    const words = part.trim().split(/\s+/);
    return baseName(words.find((word) => !/^(then|do|else|exec|\w+=.*)$/.test(word)) ?? "");
  });
  return programs.find((program) => starters.includes(program));
}

/** Drops the flags of an init or a tool from what follows its name: `-g`, `-e 143`, `--rewrite 15:3`, `--`. */
function withoutFlags(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^(-.*|[\d:]+[smh]?|SIG[A-Z]+)$/.test(word));
  return start < 0 ? [] : words.slice(start);
}
