import { isForwarded, parseSignal, usualStops } from "../../../../shared/core/signal.ts";
import { baseName } from "../../../../shared/core/text.ts";
import type { AppContainer } from "../facts/container-facts.ts";
import { hasVariable } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { mayEnd, restartOptions } from "../facts/restart.ts";
import type { Container } from "../pod.ts";
import { annotationOptions, variablesOf } from "../pod-annotations.ts";

/** Options of a container from its pod's annotations and from the policy, by flag. */
interface ContainerOptions {
  /** Those of the pod's annotations. */
  readonly annotated: ReadonlyMap<string, string>;
  /** These, and those of the policy. */
  readonly all: ReadonlyMap<string, string>;
}

/** Returns what the policy and the annotations say; the annotation of the container itself wins. */
export function givenOptions({ name, role }: AppContainer, { policy, requested }: PodFacts): ContainerOptions {
  const common = (options: ReadonlyMap<string, string>) =>
    [...options].filter(([flag]) => role !== "helper" || annotationOptions.get(flag)?.inPod !== "no-helper");
  const annotated = new Map([...common(requested.options), ...(requested.own.get(name) ?? [])]);
  return { annotated, all: new Map([...common(policy.options), ...annotated]) };
}

/** A container with the options that its fields and those of the pod mean. */
export interface WithOptions extends AppContainer {
  /** Its options by flag. */
  readonly options: ReadonlyMap<string, string>;
  /** What the annotations and the policy say of them. */
  readonly given: ContainerOptions;
  /** Whether annotations, the policy or variables of the manifest say an option. */
  readonly isGiven: (flag: string) => boolean;
  /** Whether ebb quits no sidecar at the end of this container: it cannot see the end of another one, or of this one. */
  readonly neverQuits: boolean;
}

/** `hasOpaqueApp`: beside the apps that ebb starts is one that it does not: then it quits no sidecar, unless the user says so. */
export function withOptions(app: AppContainer, facts: PodFacts, hasOpaqueApp: boolean): WithOptions {
  const { container } = app;
  const given = givenOptions(app, facts);
  const isGiven = (flag: string) =>
    given.all.has(flag) || variablesOf(flag).some((name) => hasVariable(container, name));
  const leaves = hasOpaqueApp && !given.all.has("quit-on");
  const options = fieldOptions(app, facts);
  if (leaves) options.set("quit-on", "never"); // in a server, of an agent that waits after its SIGTERM
  return { ...app, options, given, isGiven, neverQuits: leaves && mayEnd(container, facts.pod) };
}

function fieldOptions({ container, start }: AppContainer, facts: PodFacts): Map<string, string> {
  const options = new Map([...restartOptions(container, facts.pod), ...networkOptions(facts)]);
  if (facts.grace > 0) options.set("pod-grace", `${facts.grace}s`);
  const ofImage = start.kind === "unwrapped" ? undefined : (start.image ?? shownBy(container)).stopSignal;
  const stopSignal = stopSignalOf(container, ofImage);
  if (stopSignal !== undefined) options.set("stop-signal", stopSignal);
  return options;
}

/**
 * Returns the options of the pod's network, which are the same for all its containers. `host-network`: the network is the
 * node's. `app-port`: the ports on which the app listens, so that ebb sends no request there.
 */
export function networkOptions({ appPorts, isOnNode }: PodFacts): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  if (appPorts.length > 0) options.set("app-port", appPorts.join(","));
  if (isOnNode) options.set("host-network", "true");
  return options;
}

/**
 * Signals that ebb takes as stop signals anyway. The kubelet sends TERM if it does not know the field (before
 * Kubernetes 1.33, or without ContainerStopSignals).
 */
const USUAL = ["TERM", "INT"];

/**
 * The STOPSIGNAL of the images of programs that stop gracefully on another signal than TERM (Dockerfiles of
 * docker-nginx, docker-library/php, httpd and haproxy).
 */
const stopSignalsOf: readonly (readonly [program: RegExp, stopSignal: string])[] = [
  [/^(nginx|php-fpm[\d.]*)$/, "QUIT"],
  [/^(httpd|httpd-foreground|apache2|apache2-foreground)$/, "WINCH"],
  [/^haproxy$/, "USR1"],
];

/** Returns what the command in the manifest shows of an image that nobody has looked up for its sake. */
function shownBy({ command }: Container): { readonly stopSignal?: string | undefined } {
  const program = baseName(command?.[0] ?? "");
  return { stopSignal: stopSignalsOf.find(([name]) => name.test(program))?.[1] };
}

/**
 * Returns the value of --stop-signal for a container whose stop signal is neither TERM nor INT (`QUIT,TERM,INT`). The
 * manifest's wins over `ofImage`, the image's STOPSIGNAL (`SIGQUIT`, `3`). Returns undefined if it has none, or one that
 * ebb cannot catch.
 */
function stopSignalOf({ lifecycle }: Container, ofImage: string | undefined): string | undefined {
  const name = (lifecycle?.stopSignal ?? ofImage)?.replace(/^SIG/, "");
  const signal = name === undefined ? undefined : parseSignal(name);
  if (signal === undefined || !isForwarded(signal) || usualStops.includes(signal)) return undefined;
  return [name, ...USUAL].join(",");
}
