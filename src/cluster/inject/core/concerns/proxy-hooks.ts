import { options as allOptions } from "../../../../shared/cli/core/options.ts";
import { boolean } from "../../../../shared/cli/core/syntax.ts";
import { formatChoice, type NamedSidecar, parseChoice } from "../../../../shared/sidecars/core/choice.ts";
import { PLAIN } from "../../../../shared/sidecars/core/identify.ts";
import { kindOf, type SidecarName } from "../../../../shared/sidecars/core/registry.ts";
import { announces } from "../apps/announces.ts";
import { type App, runsEbb } from "../apps/app.ts";
import { fit, wholeSeconds } from "../apps/drain.ts";
import { networkOptions } from "../apps/options.ts";
import { canReplace, type HookTimes, leastOf, msSlept } from "../apps/pre-stop.ts";
import { unnamedOf } from "../apps/unnamed.ts";
import { EBB, EBB_FOLDER } from "../facts/command.ts";
import { variablesIn } from "../facts/env.ts";
import { kindOfHook } from "../facts/existing-hooks.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mountIn } from "../facts/mounts.ts";
import type { ShownSidecar } from "../facts/shown-sidecars.ts";
import type { Hook } from "../pod.ts";
import { flagsOf } from "../pod-annotations.ts";
import type { Concern } from "./concern.ts";
import { messageOn, noteOnHook } from "./drain-hooks.ts";

/**
 * Ordinary proxies outlive the apps, whose calls go through them: their preStop hooks hold until no `ebb run` is left. If
 * that starts no app of the pod, Envoys drain for as long as the apps' hooks.
 */
export const proxyHooks: Concern = (facts, apps) => {
  const hooks = proxyHooksOf(facts, apps);
  return {
    edits: hooks.flatMap(({ name, command, isSet }) =>
      isSet ? [{ kind: "hook", container: name, command } as const] : [],
    ),
    warnings: hooks.flatMap(({ name, message }) => noteOnHook(name, message)),
  };
};

/** The hook of a proxy's container. */
interface ProxyHook {
  readonly name: string;
  /** What ebb's hook runs. */
  readonly command: string[];
  /** Whether it is set: not if the container has one of its own that stays. */
  readonly isSet: boolean;
  /** What to say of that. */
  readonly message: string | undefined;
}

/** Returns the names of the proxies that get a hook, and so ebb. */
export function hookedProxies(facts: PodFacts, apps: readonly App[]): readonly string[] {
  return proxyHooksOf(facts, apps).flatMap(({ name, isSet }) => (isSet ? [name] : []));
}

type Proxy = PodFacts["containers"][number] & { readonly sidecar: ShownSidecar };

function proxyHooksOf(facts: PodFacts, apps: readonly App[]): readonly ProxyHook[] {
  const names = new Set(apps.filter(runsEbb).map(({ name }) => name));
  const isHooked = (one: PodFacts["containers"][number]): one is Proxy =>
    one.sidecar !== undefined && kindOf(one.sidecar.name).needsHook === true && one.sidecar.hasOwnDelay !== true;
  const proxies = facts.containers
    .filter((one) => !facts.moves.moved.has(one) && !names.has(one.name))
    .filter(isHooked)
    .filter(({ container }) => mountIn(EBB_FOLDER, container) === undefined);
  const options = new Map([...networkOptions(facts), ...facts.policy.options, ...facts.requested.options]);
  if (apps.some(announces)) return proxies.map((one) => holdIn(one, options));
  return drainsIn(proxies.filter(isEnvoy), { options, apps, facts });
}

function isEnvoy({ sidecar }: { readonly sidecar: NamedSidecar }): boolean {
  return kindOf(sidecar.name).drainPath !== undefined;
}

function holdIn({ name, container, sidecar }: Proxy, options: ReadonlyMap<string, string>): ProxyHook {
  const command = [EBB, "hold", ...flagsFor("hold", withPort(sidecar, options), options)];
  const own = container.lifecycle?.preStop;
  const { isSet, message } = own == null ? { isSet: true, message: undefined } : holdInstead(own, command);
  return { name, command, isSet, message };
}

/** Decides whether a hold takes the place of a proxy's own hook. */
function holdInstead(own: Hook, command: readonly string[]): Pick<ProxyHook, "isSet" | "message"> {
  const what = kindOfHook(own);
  const by = ["ebb", ...command.slice(1)].join(" ");
  if (what.kind === "replaceable") return { isSet: true, message: `replaced "${what.shown}" by ${by}` };
  if (what.kind === "waits-for-apps")
    return { isSet: true, message: `replaced the loop that waits until the app no longer listens by ${by}` };
  if (what.kind === "holds") return { isSet: false, message: undefined };
  const asks = what.kind === "asks-sidecar" ? `it asks a sidecar at ${what.path}: ` : "";
  const message = `${asks}it stays, and the proxy may end before the app, whose calls then fail: remove it, and ebb hold takes its place`;
  return { isSet: false, message };
}

interface Drained {
  readonly options: ReadonlyMap<string, string>;
  readonly apps: readonly App[];
  readonly facts: PodFacts;
}

/** Returns the drains of proxies beside apps that no `ebb run` starts; none if these do not drain. */
function drainsIn(proxies: readonly Proxy[], { options, apps, facts }: Drained): readonly ProxyHook[] {
  const withEbb = apps.filter(runsEbb);
  const longest = withEbb.toSorted((a, b) => b.drain.drainMs - a.drain.drainMs)[0]?.drain;
  const isMounted = withEbb.some((app) => app.isMounted);
  if (longest === undefined || longest.drainMs === 0 || !isMounted || !facts.restartsAlways) return [];
  const slept = Math.max(...withEbb.map(({ drain }) => drain.sleptMs));
  return proxies.map(({ name, container, sidecar }) => {
    const own = container.lifecycle?.preStop;
    const named = withPort(sidecar, options);
    if (unnamedOf([named], { env: variablesIn(container), options, facts }, ["drain"]).length > 0) {
      const isSaid = withEbb.some(({ unnamed }) => unnamed.includes(sidecar.name));
      const message = `it gets no drain hook: nothing names its port for that on the node's network; set ebb.dev/sidecar: ${sidecar.name}:PORT`;
      return { name, command: [], isSet: false, message: isSaid ? undefined : message };
    }
    const what = kindOfHook(own);
    const isLonger = msSlept(what) > longest.drainMs;
    const drainMs = isLonger ? fit(msSlept(what), facts, options) : longest.drainMs;
    const drain = isLonger ? wholeSeconds(drainMs) : longest.drain;
    const sleptMs = Math.min(Math.max(slept, msSlept(what)), drainMs);
    const command = drainOf(named, { drain, sleptMs }, options);
    const message = own == null ? undefined : messageOn(own, { drain, drainMs, command });
    return { name, command, isSet: own == null || canReplace(what, drainMs), message };
  });
}

function drainOf(sidecar: NamedSidecar, { drain, sleptMs }: HookTimes, options: ReadonlyMap<string, string>): string[] {
  const own = sleptMs === 0 ? options : new Map(options).set("min-drain", leastOf(sleptMs, options));
  return [EBB, "drain", ...flagsFor("drain", sidecar, own), `--drain=${drain}`];
}

/** Returns a proxy's name with its port, as the manifest or the pod's options tell it. */
function withPort({ name, port: shown }: ShownSidecar, options: ReadonlyMap<string, string>): NamedSidecar {
  const port = shown ?? portIn(options, name);
  return { name, ...(port !== undefined && { port }) };
}

function portIn(options: ReadonlyMap<string, string>, name: SidecarName): number | undefined {
  return parseChoice(options.get("sidecar") ?? "")?.named.find((one) => one.name === name)?.port;
}

/** The options that a proxy's hook takes from its pod. */
const taken = Object.values(allOptions).filter(({ inPod }) => inPod === "proxy-hook");

/** Returns the flags of the command in a proxy's hook: which proxy it is, and the pod's options. */
function flagsFor(
  command: "hold" | "drain",
  sidecar: NamedSidecar,
  options: ReadonlyMap<string, string>,
): readonly string[] {
  const isQuiet = boolean.parse(options.get("quiet") ?? "") === true;
  const flags = taken.flatMap(({ flag, commands }) => {
    if (!(commands as readonly string[]).includes(command)) return [];
    if (flag === "app-port" && sidecar.name !== PLAIN) return []; // its admin interface is not looked for at ports
    if (flag === "admin" && !isEnvoy({ sidecar })) return []; // it is the Envoy's
    if (flag === "log-level" && isQuiet) return []; // as flags they exclude each other
    const text = options.get(flag);
    return text === undefined ? [] : flagsOf(flag, text);
  });
  return [`--sidecar=${formatChoice({ isAuto: false, named: [sidecar] })}`, ...flags];
}
