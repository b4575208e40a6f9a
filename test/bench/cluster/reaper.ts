import { join } from "node:path";
import { withCluster } from "../../cluster/rig/enter.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import type { Figure } from "../figure.ts";
import { number, type Table } from "../table.ts";
import type { Reaped } from "./reaper-inside.ts";

/** Measures what it takes to end many stuck pods at once, and how that grows with their number. Needs root. */
export const reaper: Figure = {
  name: "reaper",
  async run({ isQuick }) {
    return [table(await runInside("reaper-inside.ts", isQuick))];
  },
};

/** Runs a script of this folder in a cluster of which only the API server runs. Resolves with what it has written. */
export async function runInside<T>(script: string, isQuick: boolean): Promise<T> {
  using folder = temporaryFolder();
  const output = join(folder.path, "output.json");
  const inside = [process.execPath, join(import.meta.dirname, script), output, isQuick ? "quick" : "all"];
  const code = await withCluster(inside, console.log, "api-server");
  if (code !== 0) throw new Error(`${script}: exit code ${code}`);
  return await Bun.file(output).json();
}

function table(reaped: readonly Reaped[]): Table {
  return {
    title: "reaper: many stuck pods at once, from its start until each has ended",
    shows: [
      "a real etcd and API server on the same processors; the kubelet is a stand-in, which ends what it is told to end",
      "requests are its own; with 10 pods at a time and --qps 1000, where nothing else is said",
      "memory from /proc/PID/status in the end, MB of 10^6 bytes",
    ],
    columns: ["method", "pods", "s", "pods/s", "requests", "a pod", "streams", "cpu ms a pod", "RSS MB", "each once"],
    rows: reaped.map(({ name, pods, seconds, requests, streams, cpuSeconds, rssMb, isOnce }) => [
      ...[name, String(pods), number(seconds), number(pods / seconds), String(requests)],
      ...[number(requests / pods), String(streams), number((1000 * cpuSeconds) / pods), number(rssMb)],
      isOnce ? "yes" : "NO",
    ]),
  };
}
