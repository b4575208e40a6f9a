import type { QuitPolicy } from "../run/supervision-steps.ts";
import type { Sidecar } from "./sidecar.ts";

/**
 * Reports whether a sidecar that a former container of the pod has drained is told to quit before the command starts.
 *
 * Nothing undoes POST /drain_listeners (Envoy 1.40, drain_manager_impl.cc; tried with a real one in
 * test/envoy/restart.test.ts): the Envoy would ask each client to close its connection until the pod is replaced. A quit
 * loses less, the seconds of a start in which the command does not run yet, if the kubelet starts the sidecar anew: an
 * ordinary one, whose exit code is 0, under restartPolicy Always alone.
 */
export function isToRestart(
  { isNative, quits }: Pick<Sidecar, "isNative" | "quits">,
  { restartPolicy, quitOn }: QuitPolicy,
): boolean {
  const hasQuit = quits.some(({ isAdditional }) => isAdditional !== true);
  return restartPolicy === "Always" && quitOn !== "never" && !isNative && hasQuit;
}
