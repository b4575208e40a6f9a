import { parsePort } from "../../core/host-port.ts";
import { splitBy } from "../../core/text.ts";
import type { OwnPod } from "./kinds/kind.ts";
import { type FoundSidecar, foundIn, moveAdmin } from "./plan.ts";
import { kindOf, type SidecarName, sidecarNames } from "./registry.ts";

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
 * undefined for anything else, also for a name with two ports. Words may be in any case.
 */
export function parseChoice(text: string): SidecarChoice | undefined {
  const words = splitBy(text.toLowerCase(), ",");
  if (words.length === 1 && words[0] === "none") return { isAuto: false, named: [] };
  const named = new Map<string, NamedSidecar>();
  for (const word of words) {
    const one = word === "auto" ? undefined : parseNamed(word);
    if (one !== undefined && isElsewhere(one, named.get(one.name))) return undefined;
    if (one !== undefined) named.set(one.name, one);
    else if (word !== "auto") return undefined;
  }
  const ordered = sidecarNames.flatMap((name) => named.get(name) ?? []);
  return words.length === 0 ? undefined : { isAuto: words.includes("auto"), named: ordered };
}

/** Reports whether a sidecar is at another port than the one of the same name. */
function isElsewhere(one: NamedSidecar, other: NamedSidecar | undefined): boolean {
  return other !== undefined && adminAt(one) !== adminAt(other);
}

function adminAt({ name, port }: NamedSidecar): string {
  const { admin } = kindOf(name);
  return port === undefined ? admin : `http://localhost:${port}`;
}

/**
 * Returns what is expected of a text that `parseChoice` does not take: another port, one port for each name, or `none`
 * alone. Undefined if it shows none of these.
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
  return expectedOfSecond(words);
}

/** Returns how to name the second sidecar of a kind; undefined if there is none. */
function expectedOfSecond(words: readonly string[]): string | undefined {
  const first = new Map<string, NamedSidecar>();
  for (const one of words.flatMap((word) => parseNamed(word) ?? [])) {
    const { name } = one;
    if (isElsewhere(one, first.get(name))) return `one ${name}; for the other, ${describedBy(name, adminAt(one))}`;
    first.set(name, one);
  }
  return undefined;
}

/** Returns the options that describe a sidecar of a kind at this admin interface. */
function describedBy(name: SidecarName, admin: string): string {
  const { ready, readyPath, quitPath, adminQuitPath } = kindOf(name);
  const quit = `--quit +${admin}${quitPath ?? adminQuitPath}`;
  if (ready === undefined) return quit;
  return `--ready ${readyPath === undefined ? admin.replace("http:", "tcp:") : `${admin}${readyPath}`} and ${quit}`;
}

/** Returns what is expected in the place of several values of `--sidecar`; undefined if they say the same. */
export function expectedOfChoices(texts: readonly string[]): string | undefined {
  const all = texts.join(",");
  if (texts.every((text) => text === texts[0])) return undefined;
  return expectedOfChoice(all) ?? `one list: ${all}`;
}

/** Returns what is expected in the place of several values of `--admin`; undefined if they say the same. */
export function expectedOfAdmins(texts: readonly string[]): string | undefined {
  const isSame = texts.every((text) => text === texts[0]);
  return isSame ? undefined : `one URL; for the other Envoy, ${describedBy("envoy", "URL")}`;
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
export function foundByName(pod: OwnPod, named: readonly NamedSidecar[]): readonly FoundSidecar[] {
  const found: FoundSidecar[] = [];
  for (const { name, port } of named) {
    for (const one of foundIn(pod, [name]))
      found.push(port === undefined ? one : moveAdmin(one, `http://localhost:${port}`));
  }
  return found;
}
