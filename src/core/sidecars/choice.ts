import { parsePort } from "../base/host-port.ts";
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

/**
 * Parses `auto`, `none`, or a comma-separated list of `NAME` and `NAME:PORT`, which may have `auto` in it. Returns
 * undefined for anything else.
 */
export function parseChoice(text: string): SidecarChoice | undefined {
  if (text === "none") return { isAuto: false, named: [] };
  const named = new Map<SidecarName, NamedSidecar>();
  let isAuto = false;
  for (const part of text.split(",")) {
    const word = part.trim();
    if (word === "") continue;
    const one = word === "auto" ? "auto" : parseNamed(word);
    if (one === undefined) return undefined;
    if (one === "auto") isAuto = true;
    else named.set(one.name, one);
  }
  const ordered: NamedSidecar[] = [];
  for (const name of sidecarNames) {
    const one = named.get(name);
    if (one !== undefined) ordered.push(one);
  }
  return isAuto || ordered.length > 0 ? { isAuto, named: ordered } : undefined;
}

function parseNamed(word: string): NamedSidecar | undefined {
  const colon = word.indexOf(":");
  const given = colon < 0 ? word : word.slice(0, colon);
  const port = colon < 0 ? undefined : parsePort(word.slice(colon + 1));
  for (const name of sidecarNames) {
    if (name !== given) continue;
    if (colon < 0) return { name };
    return port === undefined ? undefined : { name, port };
  }
  return undefined;
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
