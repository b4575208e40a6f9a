import { type HttpTarget, parseHttpTarget, withPath } from "../../core/address.ts";
import type { Header } from "../../http/core/http-framing.ts";
import type { Executable } from "./executable.ts";
import type { Adjustment, SidecarKind } from "./kinds/kind.ts";
import { type Probe, parseProbe } from "./probe.ts";
import type { QuitRequest } from "./sidecar.ts";

/** The values of `--admin`, `--ready`, `--quit`, `--signal-process`, `--ready-path` and `--header`. */
export interface SidecarUrls {
  readonly admin: HttpTarget | undefined;
  readonly ready: readonly Probe[];
  /** `none` leaves out the sidecar's own quit. */
  readonly quit: readonly (QuitRequest | "none")[];
  readonly signalProcess?: readonly Executable[];
  /** The path on the admin interface to probe instead of the sidecar's own readiness endpoint. */
  readonly readyPath?: string | undefined;
  /** The user's headers for every request. */
  readonly header?: readonly Header[];
}

/** Reports whether the user says what ends the sidecars instead of their own quits. */
export function saysHowToQuit({ quit, signalProcess = [] }: Pick<SidecarUrls, "quit" | "signalProcess">): boolean {
  return signalProcess.length > 0 || quit.some((one) => one === "none" || one.isAdditional !== true);
}

/** The user's values for the admin interface. */
export type AdminUrls = Pick<SidecarUrls, "admin" | "readyPath">;

/**
 * Returns a sidecar's readiness probes; empty if its kind has none. A probe of the admin interface moves with that to
 * another address; a probe of another port moves only if `given`, the user's `--admin`, is set.
 */
export function ownProbes(kind: SidecarKind, adjustment: Adjustment, given: HttpTarget | undefined): readonly Probe[] {
  const { admin, ready, readyPath } = kind;
  if (ready === undefined && adjustment.ready !== undefined && given !== undefined)
    return [{ kind: "connect", address: given.address }];
  if (ready === undefined) return adjustment.ready ?? [];
  if (given === undefined && adjustment.ready !== undefined) return adjustment.ready;
  const isConnection = ready === `tcp${admin.slice("http".length)}`;
  const moved = isConnection || ready === `${admin}${readyPath}` ? adjustment.admin : undefined;
  const base = given ?? (moved === undefined ? undefined : targetOf(moved));
  if (base !== undefined && isConnection) return [{ kind: "connect", address: base.address }];
  if (base !== undefined && readyPath !== undefined) return [{ kind: "http", target: withPath(base, readyPath) }];
  return [defaultProbe(kind, ready, adjustment)];
}

/** Returns the probe of `ready`, a sidecar's readiness URL; a probe of kind `any` if readiness may be elsewhere too. */
function defaultProbe({ admin, notReady, orReady }: SidecarKind, ready: string, adjustment: Adjustment): Probe {
  const probe = parseProbe(ready) as Probe;
  const own = probe.kind === "http" && notReady !== undefined ? { ...probe, except: notReady } : probe;
  if (orReady === undefined) return own;
  const probes = [own];
  for (const url of orReady) {
    const isOnAdmin = url.startsWith(`${admin}/`);
    const moved = isOnAdmin ? `${adjustment.admin ?? admin}${url.slice(admin.length)}` : url;
    probes.push(parseProbe(moved) as Probe);
  }
  return { kind: "any", probes };
}

/**
 * Returns the probe of the user's `--ready-path` on the admin interface: the user's `--admin`, else the sidecar's own.
 */
export function probeAt(kind: SidecarKind, adjustment: Adjustment, { admin, readyPath = "" }: AdminUrls): Probe {
  return { kind: "http", target: withPath(admin ?? targetOf(adjustment.admin ?? kind.admin), readyPath) };
}

/** Returns the target of a URL that is known to be valid, such as one in a `SidecarKind`. */
export function targetOf(text: string): HttpTarget {
  return parseHttpTarget(text) as HttpTarget;
}
