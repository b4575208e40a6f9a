import { saysHowToQuit } from "../../../../shared/sidecars/core/own-probes.ts";
import { kindOf } from "../../../../shared/sidecars/core/registry.ts";
import { portsOf } from "../facts/shown-sidecars.ts";
import type { PodSidecar } from "../facts/sidecars.ts";
import { variablesOf } from "../pod-annotations.ts";
import type { Saying, Urls } from "./unnamed.ts";

/** What is waited for beside the sidecars that are named. */
interface Awaited {
  /** Targets for `--ready`. */
  readonly ready: readonly string[];
  /** The containers of sidecars that nothing waits for, because nothing shows where they listen. */
  readonly unwaited: readonly string[];
}

/** The most sidecars of which that is told. */
const MOST = 50;

/**
 * Returns where the sidecars listen that no name stands for, `others` and those that ebb makes native without knowing them.
 * The kubelet itself waits for one that has a startupProbe. If the user says how to quit, a target of ours would say that
 * all is described.
 */
export function awaited(others: readonly PodSidecar[], { facts, env, options }: Saying, urls: Urls): Awaited {
  const isTaken = variablesOf("ready").some((name) => name in env);
  if (isTaken || saysHowToQuit(urls)) return { ready: [], unwaited: [] };
  const all = [
    ...others.map((one) => {
      return { name: one.container, isProbed: one.at === undefined && one.isProbed, target: targetOf(one) };
    }),
    ...facts.strangers.map(({ name, container }) => {
      return { name, isProbed: container.startupProbe != null, target: targetAt(portsOf(container)[0]) };
    }),
  ];
  const left = all.filter(({ isProbed }) => isProbed !== true).slice(0, MOST);
  return {
    ready: left.flatMap(({ target }) => target ?? []),
    // the user's own targets may be theirs
    unwaited: options.has("ready") ? [] : left.flatMap(({ name, target }) => (target === undefined ? [name] : [])),
  };
}

/** Reports whether anything shows where a sidecar listens, so that ebb can wait for it. */
export function showsWhere({ problem, listeners }: Pick<PodSidecar, "problem" | "listeners">): boolean {
  return problem === undefined || listeners === undefined || listeners.length > 0;
}

/** Returns where a sidecar shows that it is ready: its admin interface, or, without one, where it serves the app. */
function targetOf({ name, port, problem, listeners }: PodSidecar): string | undefined {
  const { readyPath } = kindOf(name);
  if (problem !== undefined || port === undefined || readyPath === undefined)
    return targetAt(problem === undefined ? (port ?? listeners?.[0]) : listeners?.[0]);
  return `http://localhost:${port}${readyPath}`;
}

function targetAt(port: number | undefined): string | undefined {
  return port === undefined ? undefined : `tcp://localhost:${port}`;
}
