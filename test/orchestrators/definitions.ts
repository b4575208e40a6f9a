import { kubectl, tryKubectl } from "../cluster/kubectl.ts";
import { until } from "../harness/ebb.ts";

/** Applies CustomResourceDefinitions, files after -f, and waits until the API server serves them. */
export async function define(files: readonly string[]): Promise<void> {
  await kubectl(["apply", "--server-side", "--force-conflicts", ...files]);
  const wait = ["wait", "--for=condition=Established", "--timeout=60s", ...files];
  // kubectl fails where a definition has no status yet
  await until("the definitions are established", async () => (await tryKubectl(wait)).code === 0, 60_000, 200);
}
