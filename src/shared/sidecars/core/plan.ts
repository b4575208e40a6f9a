import { type HttpTarget, withPath } from "../../core/address.ts";
import type { Header } from "../../http/core/http-framing.ts";
import { isProven } from "./injected.ts";
import type { Adjustment, OwnPod, QuitTarget, SidecarKind } from "./kinds/kind.ts";
import { saysNative } from "./kinds/native.ts";
import { type AdminUrls, ownProbes, probeAt, type SidecarUrls, targetOf } from "./own-probes.ts";
import { isAt, type Probe, withHeaders } from "./probe.ts";
import { serializeQuit } from "./quit.ts";
import { isProxy, kindOf, type SidecarName } from "./registry.ts";
import type { QuitRequest, Sidecar } from "./sidecar.ts";

/** A sidecar that is in this pod, and in what the pod differs from the sidecar's defaults. */
export interface FoundSidecar {
  readonly name: SidecarName;
  readonly isNative: boolean;
  readonly adjustment?: Adjustment;
  /** Its admin interface has not answered yet: see `PortFinding`. */
  readonly isSuggested?: true;
  /** It is on its node's network, where its usual ports may be another pod's: only what is named is asked. */
  readonly isOnNode?: true;
  /** Its injector's annotation proves that it is in this pod. */
  readonly isProven?: true;
}

/**
 * Returns the named sidecars, each with what the pod's annotations and variables say of it: native or not, adjustments.
 */
export function foundIn(pod: OwnPod, names: readonly SidecarName[]): readonly FoundSidecar[] {
  const found: FoundSidecar[] = [];
  for (const name of names) {
    const { isNative, adjust } = kindOf(name);
    const adjustment = adjust?.(pod);
    found.push({
      name,
      isNative: isNative(pod.annotations) || saysNative(pod.annotations, name),
      ...(adjustment === undefined ? {} : { adjustment }),
      ...(isProven(name, pod.annotations) ? { isProven: true } : {}),
    });
  }
  return found;
}

/** Returns the sidecar as one that is on its node's network. */
export function onNode(found: FoundSidecar): FoundSidecar {
  return { ...found, isOnNode: true };
}

/**
 * Plans by which requests each sidecar is waited for and told to quit. `--admin`, `--ready-path`, `--quit` and
 * `--signal-process` apply to the mesh's proxies; to the other sidecars only if there is no proxy. A `--quit` replaces
 * the sidecar's own quits, or adds to them if it has a `+`. `--ready`, and quits that belong to no single sidecar, make
 * one more, named `custom`, which is the last in the list.
 *
 * Written with loops, like all code that runs at a start: each of filter, map, some, find costs 0.03 ms when first used
 * (measured).
 */
export function planSidecars(found: readonly FoundSidecar[], urls: SidecarUrls): readonly Sidecar[] {
  const instead: QuitRequest[] = [];
  const more: QuitRequest[] = [];
  let isGiven = false;
  for (const quit of urls.quit) {
    if (quit !== "none") (quit.isAdditional === true ? more : instead).push(quit);
    isGiven ||= quit === "none" || quit.isAdditional !== true;
  }
  const processes: string[] = [];
  const lastResort: string[] = [];
  for (const { name, isLastResort } of urls.signalProcess ?? []) (isLastResort ? lastResort : processes).push(name);
  isGiven ||= processes.length > 0;
  let proxies = 0;
  for (const { name } of found) if (isProxy(name)) proxies += 1;
  const isAlone = (proxies > 0 ? proxies : found.length) === 1;
  const planned: Sidecar[] = [];
  let areAllNative = found.length > 0;
  for (const one of found) {
    const isMeant = proxies === 0 || isProxy(one.name);
    const plan = one.isOnNode === true ? sidecarOnNode : ownSidecar;
    const own = plan(one, isMeant ? urls : noUrls);
    const given = isMeant && isGiven ? withQuits(own, isAlone ? { quits: instead, processes } : none) : own;
    const ended = isMeant && !own.isNative && lastResort.length > 0 ? { ...given, lastResort } : given;
    planned.push(withUsersHeaders(ended, urls.header));
    areAllNative &&= !isMeant || one.isNative;
  }
  const isTaken = isAlone || areAllNative;
  const quits = [...(isTaken ? [] : instead), ...notYet(more, planned)];
  const others = { quits, processes: isTaken ? [] : processes };
  const rest = found.length === 0 ? lastResort : [];
  if (urls.ready.length + quits.length + others.processes.length + rest.length === 0) return planned;
  const custom: Sidecar = { name: "custom", isNative: false, envoy: undefined, ready: urls.ready, ...others };
  return [...planned, withUsersHeaders(rest.length > 0 ? { ...custom, lastResort: rest } : custom, urls.header)];
}

/** Returns the sidecar with the user's headers for readiness and for its Envoy. `quitAll` adds them to the quits. */
function withUsersHeaders(sidecar: Sidecar, headers: readonly Header[] = []): Sidecar {
  if (headers.length === 0) return sidecar;
  const { ready, envoy } = sidecar;
  return {
    ...sidecar,
    ready: ready.map((probe) => withHeaders(probe, headers)),
    envoy: envoy && { ...envoy, headers },
  };
}

const noUrls: AdminUrls = { admin: undefined };

type Ends = Pick<Sidecar, "quits" | "processes">;

const none: Ends = { quits: [], processes: [] };

/**
 * Returns the sidecar with the user's quits and processes instead of its own. `exitsWhen` stays only if these are its own
 * quits. A native sidecar is returned unchanged: it gets no quit.
 */
function withQuits(own: Sidecar, ends: Ends): Sidecar {
  if (own.isNative) return own;
  const { exitsWhen: _, socket, ...sidecar } = own;
  const exitsWhen = exitsWhenOf(own, ends.quits);
  return {
    ...sidecar,
    ...ends,
    ...(exitsWhen === undefined ? {} : { exitsWhen }),
    ...(socket === undefined ? {} : { socket: { ...socket, quitPath: undefined } }),
  };
}

/** Returns when the sidecar exits after these quits, or undefined if they are not its own or if it exits at once. */
function exitsWhenOf(own: Sidecar, quits: readonly QuitRequest[]): string | undefined {
  if (notYet(quits, [own]).length === 0) return own.exitsWhen;
  for (const { method, fallback } of own.quits) {
    if (fallback === undefined) continue;
    const other = serializeQuit({ method, target: fallback.target });
    if (quits.every((quit) => serializeQuit(quit) === other)) return fallback.exitsWhen;
  }
  return undefined;
}

function ownSidecar(
  { name, isNative, adjustment = {}, isProven }: FoundSidecar,
  { admin, readyPath }: AdminUrls,
): Sidecar {
  const kind = kindOf(name);
  const exitsWhen = adjustment.exitsWhen ?? kind.exitsWhen;
  const quits = isNative ? [] : ownQuits(kind, adjustment, admin);
  const envoy = ownEnvoy(kind, adjustment, admin);
  const alwaysOpen = adjustment.alwaysOpen ?? kind.alwaysOpen;
  const address = (alwaysOpen === "admin" ? envoy?.admin : alwaysOpen === "quit" ? quits[0]?.target : undefined)
    ?.address;
  return {
    name,
    isNative,
    envoy,
    ready:
      readyPath === undefined ? ownProbes(kind, adjustment, admin) : [probeAt(kind, adjustment, { admin, readyPath })],
    quits,
    processes: [],
    ...(isProven === undefined ? {} : { isProven }),
    ...(address === undefined ? {} : { alwaysOpen: address }),
    ...(exitsWhen === undefined ? {} : { exitsWhen }),
    ...(kind.closesFirst === undefined ? {} : { closesFirst: kind.closesFirst }),
    ...(kind.adminSocket === undefined || admin !== undefined ? {} : { socket: socketOf(kind, isNative) }),
  };
}

/**
 * Returns a sidecar of which only addresses are asked that are named: by `--admin`, by a port beside its name, or in the
 * pod's annotations and variables.
 */
function sidecarOnNode(found: FoundSidecar, { admin, readyPath }: AdminUrls): Sidecar {
  const { name, isNative, adjustment = {} } = found;
  const kind = kindOf(name);
  const base = admin ?? (adjustment.admin === undefined ? undefined : targetOf(adjustment.admin));
  const { quits = [], ready = [] } = adjustment.isNamed === true ? adjustment : {};
  if (base === undefined) {
    const named = isNative ? [] : ownQuits(kind, { ...adjustment, quits }, undefined);
    return { name, isNative, envoy: undefined, ready, quits: named, processes: [] };
  }
  const isAtAdmin = kind.adminQuitPath !== undefined && quits.length === 0;
  const atAdmin = isAtAdmin
    ? ({ quits: [{ target: withPath(base, kind.adminQuitPath) }], alwaysOpen: false } as const)
    : {};
  return ownSidecar({ ...found, adjustment: { ...adjustment, ...atAdmin } }, { admin: base, readyPath });
}

function socketOf({ adminSocket, quitPath }: SidecarKind, isNative: boolean): NonNullable<Sidecar["socket"]> {
  return { pattern: adminSocket as string, quitPath: isNative ? undefined : quitPath };
}

/**
 * Returns a copy of the sidecar with its admin interface at another URL. Its quits and probes at the old URL move too.
 */
export function moveAdmin(found: FoundSidecar, admin: string): FoundSidecar {
  const { adjustment = {} } = found;
  const from = targetOf(adjustment.admin ?? kindOf(found.name).admin);
  const to = targetOf(admin);
  const moved = (target: HttpTarget) => (target.authority === from.authority ? withPath(to, target.path) : target);
  const movedProbe = (probe: Probe): Probe => {
    if (probe.kind === "http") return { ...probe, target: moved(probe.target) };
    return probe.kind === "connect" && isAt(probe, from.address) ? { ...probe, address: to.address } : probe;
  };
  const { quits, ready } = adjustment;
  return {
    ...found,
    adjustment: {
      ...adjustment,
      admin,
      ...(quits && { quits: quits.map((quit) => ({ ...quit, target: moved(quit.target) })) }),
      ...(ready && { ready: ready.map(movedProbe) }),
    },
  };
}

/** Returns a copy of the sidecar with its admin interface, drain and quit on the unix socket at this path. */
export function onSocket(sidecar: Sidecar, path: string): Sidecar {
  const admin = targetOf(`unix:${path}`);
  const { envoy, quits, socket } = sidecar;
  const quitPath = socket?.quitPath;
  return {
    ...sidecar,
    envoy: envoy === undefined ? undefined : { ...envoy, admin },
    quits: quitPath === undefined ? quits : [{ method: "POST", target: withPath(admin, quitPath) }],
  };
}

function ownEnvoy(kind: SidecarKind, adjustment: Adjustment, given: HttpTarget | undefined): Sidecar["envoy"] {
  if (kind.drainPath === undefined) return undefined;
  return { admin: given ?? targetOf(adjustment.admin ?? kind.admin), drainPath: kind.drainPath };
}

function ownQuits(kind: SidecarKind, adjustment: Adjustment, given: HttpTarget | undefined): readonly QuitRequest[] {
  const { quitHeaders: headers } = adjustment;
  const quits: QuitRequest[] = [];
  const more = {
    ...(headers === undefined ? {} : { headers }),
    ...(kind.quitMustNotRepeat === undefined ? {} : { mustNotRepeat: kind.quitMustNotRepeat }),
  };
  for (const where of quitTargets(kind, adjustment, given)) quits.push({ method: "POST", ...where, ...more });
  return quits;
}

function quitTargets(kind: SidecarKind, adjustment: Adjustment, given: HttpTarget | undefined): readonly QuitTarget[] {
  const { quit, quitPath } = kind;
  if (adjustment.quits !== undefined && (given === undefined || quitPath === undefined)) return adjustment.quits;
  const base = given ?? (adjustment.admin === undefined ? undefined : targetOf(adjustment.admin));
  return [{ target: base === undefined || quitPath === undefined ? targetOf(quit) : withPath(base, quitPath) }];
}

/** Returns the quits that none of the sidecars has already: a quit that a sidecar's own variable names too is sent once. */
function notYet(more: readonly QuitRequest[], sidecars: readonly Sidecar[]): readonly QuitRequest[] {
  if (more.length === 0) return more;
  const present = new Set(sidecars.flatMap(({ quits }) => quits.map(serializeQuit)));
  return more.filter((quit) => !present.has(serializeQuit(quit)));
}
