import { stopSignals } from "../../cli/syntax.ts";
import type { Container } from "../pod.ts";
import type { Remark } from "../remark.ts";

/**
 * Signals that ebb takes as stop signals anyway. The kubelet sends TERM if it does not know the field (before
 * Kubernetes 1.33, or without ContainerStopSignals).
 */
const USUAL = ["TERM", "INT"];

/**
 * Returns the value of --stop-signal for a container with a stop signal in its manifest that is neither TERM nor INT
 * (`QUIT,TERM,INT`). Returns undefined if it has none, or one that ebb cannot catch.
 */
export function stopSignalOf({ lifecycle }: Container): string | undefined {
  const signal = lifecycle?.stopSignal ?? undefined;
  const name = signal?.startsWith("SIG") ? signal.slice("SIG".length) : signal;
  if (name === undefined || USUAL.includes(name) || stopSignals.parse(name) === undefined) return undefined;
  return [name, ...USUAL].join(",");
}

/**
 * Returns a warning if the manifest's stop signal is one that no process can catch, such as SIGKILL; else an empty
 * list.
 */
export function warnOfUncatchableSignal({ lifecycle }: Container, at: number): readonly Remark[] {
  const name = lifecycle?.stopSignal;
  if (name == null || stopSignals.parse(name) !== undefined) return [];
  const message = `ebb cannot catch ${name}, so it neither drains nor quits the sidecars when this container is stopped: expected ${stopSignals.expected}`;
  return [{ field: `spec.containers[${at}].lifecycle.stopSignal`, message }];
}
