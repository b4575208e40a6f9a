import { join } from "node:path";
import { until } from "../../harness/ebb.ts";
import { compiledProgram } from "../compile.ts";
import type { Pod } from "../pod.ts";

/** Starts a control plane on a pod's loopback, which gives Envoys these resources (xDS). Resolves once it listens. */
export async function startControlPlane(
  pod: Pod,
  {
    port,
    folder,
    resources,
  }: { readonly port: number; readonly folder: string; readonly resources: readonly object[] },
): Promise<void> {
  const file = join(folder, "resources.json");
  await Bun.write(file, JSON.stringify(resources));
  const { log } = await pod.start([compiledProgram("ads").path, `127.0.0.1:${port}`, file]);
  await until("the control plane listens", () => log().includes("listening"));
}
