import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../harness/ebb.ts";
import { namespace } from "../cluster.ts";
import { quits, standInPod, standIns, startReaper } from "./reapers.ts";
import { apiServerCommand, secondApiServer } from "./second-api-server.ts";

const command = apiServerCommand();
const failed = 'ebb_reaper_watch_restarts_total{reason="failed"}';
const annotations = { "ebb.dev/reap-patience.envoy": "45s" };

test.skipIf(command === undefined)(
  "an API server that is killed, and starts again: what was told stays told, what is stuck meanwhile is ended",
  async () => {
    await using here = await namespace();
    using folder = temporaryFolder();
    const config = JSON.parse(await here.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"));
    const [{ name, cluster }] = config.clusters;
    const { hostname } = new URL(cluster.server);
    const path = join(folder.path, "kubeconfig");
    const isReady = async (): Promise<boolean> => {
      const { code } = await here.tryKubectl(["--kubeconfig", path, "get", "--raw", "/readyz"]);
      return code === 0;
    };
    await using server = await secondApiServer(command as readonly string[], isReady);
    const second = { ...cluster, server: `https://${hostname}:${server.port}` };
    await Bun.write(path, JSON.stringify({ ...config, clusters: [{ name, cluster: second }] }));
    await server.start();
    await using reaper = await startReaper(here, [], { env: { KUBECONFIG: path } });
    const isOver = async (pod: string) => (await here.pod(pod)).status.phase === "Succeeded";
    await here.apply([standIns, standInPod("before", { annotations })]);
    await here.until("the first is over", () => isOver("before"));
    await server.kill();
    await here.apply([standInPod("meanwhile", { annotations })]);
    await here.until("it is missed", async () => (await reaper.metric(failed)) > 0);
    await server.start();
    await here.until("what was stuck meanwhile is over", () => isOver("meanwhile"));
    expect(await Promise.all(["before", "meanwhile"].map((pod) => quits(here, pod)))).toEqual([1, 1]);
  },
);
