import { positive, unexpected } from "../../../shared/cli/core/syntax.ts";
import type { HttpTarget } from "../../../shared/core/address.ts";
import { hidden, redactUrl } from "../../../shared/core/redact.ts";
import { parseCommandLine } from "../../../shared/core/text.ts";
import type { Annotations } from "../../../shared/sidecars/core/kinds/kind.ts";
import { planSidecars } from "../../../shared/sidecars/core/plan.ts";
import { parseQuit, serializeQuit } from "../../../shared/sidecars/core/quit.ts";
import { kindOf, type SidecarName } from "../../../shared/sidecars/core/registry.ts";
import type { QuitRequest, Sidecar } from "../../../shared/sidecars/core/sidecar.ts";
import type { ContainerView, PodView } from "./pod-view.ts";

/** What a pod's annotations say about ending one of its containers. */
export interface PodInstructions {
  /** A command that ends it, to be run in the container. */
  readonly command?: readonly string[];
  /** HTTP requests that end it. */
  readonly quits?: readonly QuitRequest[];
  /** Milliseconds that it may take to exit once it has been told. */
  readonly patienceMs?: number;
}

/**
 * Reads a pod's annotations for one container: ebb.dev/reap-exec.NAME (a command line), ebb.dev/reap-quit.NAME (a URL),
 * ebb.dev/reap-patience.NAME (a duration). Returns a text, what is wrong, if one is malformed or not to be followed:
 * reap-exec counts only if `allowsReapExec`, and in no privileged container.
 */
export function readInstructions(
  { name, isPrivileged }: Pick<ContainerView, "name" | "isPrivileged">,
  annotations: Annotations,
  allowsReapExec: boolean,
): PodInstructions | string {
  const words = annotations.get(`ebb.dev/reap-exec.${name}`);
  if (words !== undefined && !allowsReapExec) {
    return `ebb.dev/reap-exec.${name} is ignored: this reaper runs without --allow-reap-exec`;
  }
  if (words !== undefined && isPrivileged) {
    return `ebb.dev/reap-exec.${name} is ignored: ${name} is privileged, and whoever may annotate a pod would control its node`;
  }
  const command = words === undefined ? undefined : parseCommandLine(words);
  if (words !== undefined && command === undefined) {
    return unexpected(`ebb.dev/reap-exec.${name}`, 'a command line such as ["/bin/app", "--stop"]', words, hidden);
  }
  const url = annotations.get(`ebb.dev/reap-quit.${name}`);
  const quit = url === undefined ? undefined : parseQuit(url);
  if (url !== undefined && (quit === undefined || loopbackPort(quit.target) === undefined)) {
    return unexpected(
      `ebb.dev/reap-quit.${name}`,
      "a URL on the pod's loopback such as http://localhost:9901/quit",
      url,
      redactUrl,
    );
  }
  const patience = annotations.get(`ebb.dev/reap-patience.${name}`);
  const patienceMs = patience === undefined ? undefined : positive.parse(patience);
  if (patience !== undefined && patienceMs === undefined) {
    return unexpected(`ebb.dev/reap-patience.${name}`, positive.expected, patience);
  }
  return {
    ...(command !== undefined && { command }),
    ...(quit !== undefined && { quits: [quit] }),
    ...(patienceMs !== undefined && { patienceMs }),
  };
}

/**
 * Returns the HTTP requests that end a sidecar: its kind's defaults, or what the pod's annotations and variables make
 * of them. Those that do not go to the pod's loopback by plain HTTP are left out.
 */
export function quitsOf(name: SidecarName, pod: PodView): readonly QuitRequest[] {
  return planOf(name, pod).quits.filter(({ target }) => loopbackPort(target) !== undefined);
}

/** Returns the requests to a sidecar that is no native one: its kind's defaults, or what the pod makes of them. */
function planOf(name: SidecarName, pod: PodView): Sidecar {
  const { annotations } = pod;
  const adjustment = kindOf(name).adjust?.({ annotations, env: environmentOf(pod) });
  const found = [{ name, isNative: false, ...(adjustment === undefined ? {} : { adjustment }) }];
  const [sidecar] = planSidecars(found, { admin: undefined, ready: [], quit: [] });
  return sidecar as Sidecar;
}

/**
 * Reports whether a sidecar's quits are no more than its kind's default: one POST to the usual admin interface of an
 * Envoy. Nothing in the pod says that it is there.
 */
export function isUsualAdmin(name: SidecarName, quits: readonly QuitRequest[]): boolean {
  const { drainPath, quitPath, quit } = kindOf(name);
  return drainPath !== undefined && quitPath !== undefined && quits.map(serializeQuit).join() === `POST ${quit}`;
}

/** Merges the variables of all containers: injectors tell the app of its sidecar in one container or another. */
function environmentOf({ containers }: PodView): Readonly<Record<string, string>> {
  return Object.fromEntries(
    containers.flatMap(({ variables }) =>
      variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    ),
  );
}

/** Returns the port of a plain HTTP request to the pod's loopback; undefined for any other target. */
export function loopbackPort({ address, isSecure }: Pick<HttpTarget, "address" | "isSecure">): number | undefined {
  if (isSecure || address.kind !== "tcp") return undefined;
  return ["localhost", "127.0.0.1", "::1"].includes(address.host) ? address.port : undefined;
}

/**
 * Returns the milliseconds that a sidecar may take to exit after a quit: what its kind needs, because some answer at
 * once and exit later, and 30 s (`MARGIN_MS`).
 */
export function patienceOf(sidecar: SidecarName | undefined, annotations: Annotations): number {
  const seconds = sidecar === undefined ? undefined : kindOf(sidecar).reaping?.().seconds?.(annotations);
  return MARGIN_MS + 1000 * (seconds ?? 0);
}

const MARGIN_MS = 30_000;
