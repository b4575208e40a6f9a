import { pickOptions } from "../../../../shared/cli/core/options.ts";
import { valuesIn } from "../facts/env.ts";
import type { App } from "./app.ts";
import { envOf } from "./quits.ts";
import { isRun } from "./runs.ts";

const holdOptions = pickOptions("sidecar", "hostNetwork", "noHold");

/**
 * Reports whether the pod's other containers see that the app runs, so that `ebb hold` keeps their proxy until it has
 * ended: `ebb run` starts it, serves sidecars, and is not on the node's network.
 */
export function announces(app: App): boolean {
  if (!isRun(app)) return false;
  const values = valuesIn(envOf(app), holdOptions);
  if (values === undefined) return false; // ebb run refuses it
  const { sidecar, hostNetwork, noHold } = values;
  return (sidecar.isAuto || sidecar.named.length > 0) && hostNetwork !== true && !noHold;
}
