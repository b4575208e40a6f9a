import { formatDuration as text } from "../../../shared/core/duration.ts";
import { fitMinimum, planShutdown, type ShutdownWishes } from "../../../shared/core/shutdown-budget.ts";
import { isProven } from "../../../shared/sidecars/core/injected.ts";
import type { Annotations } from "../../../shared/sidecars/core/kinds/kind.ts";
import { kindOf, sidecarNames } from "../../../shared/sidecars/core/registry.ts";

/** The values of the options that decide when a stop's phases end, in milliseconds. */
export interface StopWishes extends ShutdownWishes {
  readonly minDrain: number;
}

/**
 * Describes what ends each phase of a stop, and when after the stop signal at the latest: a phrase for each. The last is
 * about proxies that end by themselves, as the pod's annotations say.
 */
export function stopSteps(wishes: StopWishes, annotations: Annotations): readonly string[] {
  const { drain, minDrain, grace, podGrace } = wishes;
  const { drainMs, allMs = Number.POSITIVE_INFINITY } = planShutdown(wishes);
  const pod = `--pod-grace ${text(podGrace ?? 0)}`;
  const by = (option: string, wishedMs: number, shorter: string | undefined) =>
    shorter === undefined ? `(${option} ${text(wishedMs)})` : `(${shorter} shortens ${option} ${text(wishedMs)})`;
  const cutDrain = drainMs < drain ? pod : undefined;
  const steps = ["0s stop signal"];
  if (drainMs === 0) steps.push(`at once to the app ${drain === 0 ? "(no --drain)" : by("--drain", drain, pod)}`);
  else {
    const minMs = minDrain <= drainMs ? minDrain : fitMinimum(minDrain, drainMs);
    const cutMin = minMs < minDrain ? (cutDrain ?? `--drain ${text(drain)}`) : undefined;
    steps.push(`until ${text(minMs)} accepts ${by("--min-drain", minDrain, cutMin)}`);
    const end =
      minMs === drainMs ? `at ${text(drainMs)} to the app, which ends what is left` : `drained by ${text(drainMs)}`;
    steps.push(`${end} ${by("--drain", drain, cutDrain)}`);
  }
  if (grace !== undefined) {
    const killMs = Math.min(drainMs + grace, allMs);
    steps.push(`app killed by ${text(killMs)} ${by("--grace", grace, killMs < drainMs + grace ? pod : undefined)}`);
  } else if (podGrace !== undefined) steps.push(`app killed by the kubelet at ${text(podGrace)} (--pod-grace)`);
  else steps.push("app never killed by ebb (no --grace)");
  return [...steps, ...ownDrains(annotations)];
}

function ownDrains(annotations: Annotations): readonly string[] {
  return sidecarNames.flatMap((name) => {
    const { ownDrain, isNative } = kindOf(name);
    const ms = isProven(name, annotations) && !isNative(annotations) ? ownDrain?.ms(annotations) : undefined;
    return ms === undefined ? [] : [`${name} gone at ${text(ms)} unless a hook keeps it (${ownDrain?.setting})`];
  });
}
