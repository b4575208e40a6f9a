import { stopSignals } from "../../cli/syntax.ts";
import type { Container } from "../pod.ts";
import type { Remark } from "../remark.ts";

/** What the kubelet sends where it does not know the field (before Kubernetes 1.33, or without ContainerStopSignals). */
const USUAL = ["TERM", "INT"];

/**
 * Returns the value of --stop-signal for a container whose manifest has a stop signal that is not among the usual ones; undefined
 * where it has none, or one that ebb cannot catch.
 */
export function stopSignalOf({ lifecycle }: Container): string | undefined {
  const signal = lifecycle?.stopSignal ?? undefined;
  const name = signal?.startsWith("SIG") ? signal.slice("SIG".length) : signal;
  if (name === undefined || USUAL.includes(name) || stopSignals.parse(name) === undefined) return undefined;
  return [name, ...USUAL].join(",");
}

/** Warns of a stop signal in the manifest that no process can catch, such as SIGKILL. Empty: there is none. */
export function warnOfUncatchableSignal({ lifecycle }: Container, at: number): readonly Remark[] {
  const name = lifecycle?.stopSignal;
  if (name == null || stopSignals.parse(name) !== undefined) return [];
  const message = `ebb cannot catch ${name}, so it neither drains nor quits the sidecars when this container is stopped: expected ${stopSignals.expected}`;
  return [{ field: `spec.containers[${at}].lifecycle.stopSignal`, message }];
}
