import { parsePort } from "../../core/host-port.ts";
import { splitBy } from "../../core/text.ts";
import type { PodFacts } from "./kinds/kind.ts";
import { type FoundSidecar, foundIn, moveAdmin } from "./plan.ts";
import { type SidecarName, sidecarNames } from "./registry.ts";

/** A sidecar that `--sidecar` names. */
export interface NamedSidecar {
  readonly name: SidecarName;
  /** The port of its admin interface, if that is not the usual one. */
  readonly port?: number;
}

/** The value of `--sidecar`. */
export interface SidecarChoice {
  /** Whether ebb looks for further sidecars. */
  readonly isAuto: boolean;
  /** In the registry's order, each once. */
  readonly named: readonly NamedSidecar[];
}

/** Reports whether a choice is `none`. */
export function isNone({ isAuto, named }: SidecarChoice): boolean {
  return !isAuto && named.length === 0;
}

/**
 * Parses `auto`, `none`, or a comma-separated list of `NAME` and `NAME:PORT`, which may have `auto` in it. Returns
 * undefined for anything else. Words may be in any case.
 */
export function parseChoice(text: string): SidecarChoice | undefined {
  const words = splitBy(text.toLowerCase(), ",");
  if (words.length === 1 && words[0] === "none") return { isAuto: false, named: [] };
  const named = new Map<string, NamedSidecar>();
  for (const word of words) {
    const one = word === "auto" ? undefined : parseNamed(word);
    if (one !== undefined) named.set(one.name, one);
    else if (word !== "auto") return undefined;
  }
  const ordered = sidecarNames.flatMap((name) => named.get(name) ?? []);
  return words.length === 0 ? undefined : { isAuto: words.includes("auto"), named: ordered };
}

/**
 * Returns what is expected of a text that `parseChoice` does not take: another port, or `none` alone. Undefined if it
 * shows neither.
 */
export function expectedOfChoice(text: string): string | undefined {
  const words = splitBy(text.toLowerCase(), ",");
  if (words.length > 1 && words.includes("none")) return "none by itself, or sidecars without it";
  for (const word of words) {
    const [given, digits] = word.split(":");
    const isName = sidecarNames.some((name) => name === given);
    if (isName && digits !== undefined && parseNamed(word) === undefined)
      return `a port from 1 to 65535 after ${given}:`;
  }
  return undefined;
}

function parseNamed(word: string): NamedSidecar | undefined {
  const [given, digits, ...more] = word.split(":");
  const name = sidecarNames.find((one) => one === given);
  if (name === undefined || more.length > 0) return undefined;
  if (digits === undefined) return { name };
  const port = parsePort(digits);
  return port === undefined ? undefined : { name, port };
}

/** Formats a choice as `parseChoice` reads it. */
export function formatChoice({ isAuto, named }: SidecarChoice): string {
  const words = named.map(({ name, port }) => (port === undefined ? name : `${name}:${port}`));
  return [...(isAuto ? ["auto"] : []), ...words].join(",") || "none";
}

/** Returns the named sidecars, with what the pod says of them, and their admin interfaces at the named ports. */
export function foundByName(pod: PodFacts, named: readonly NamedSidecar[]): readonly FoundSidecar[] {
  const found: FoundSidecar[] = [];
  for (const { name, port } of named) {
    for (const one of foundIn(pod, [name]))
      found.push(port === undefined ? one : moveAdmin(one, `http://localhost:${port}`));
  }
  return found;
}
