import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";
import type { QuitPolicy } from "./supervision-steps.ts";

/**
 * Reports whether a sidecar that a former container of the pod has drained is told to quit before the command starts.
 *
 * Nothing undoes POST /drain_listeners (Envoy 1.40, drain_manager_impl.cc; tried with a real one in
 * test/envoy/restart.test.ts): Envoy would ask every client to close its connection until the pod is replaced. A quit
 * costs only the seconds that Envoy needs to start, before the command runs. The kubelet restarts an ordinary sidecar
 * that exits with 0 only under restartPolicy Always.
 */
export function isToRestart(
  { isNative, quits }: Pick<Sidecar, "isNative" | "quits">,
  { restartPolicy, quitOn }: QuitPolicy,
): boolean {
  const hasQuit = quits.some(({ isAdditional }) => isAdditional !== true);
  return restartPolicy === "Always" && quitOn !== "never" && !isNative && hasQuit;
}
