import type { Figure } from "../figure.ts";
import { number, type Table } from "../table.ts";
import { runInside } from "./reaper.ts";
import type { Scaled } from "./scale-inside.ts";

/** Measures the reaper in clusters of 1,000 and 10,000 pods. Needs root, and twenty minutes. */
export const scale: Figure = {
  name: "scale",
  async run({ isQuick }) {
    const scaled: readonly Scaled[] = await runInside("scale-inside.ts", isQuick);
    return [watching(scaled), ending(scaled)];
  },
};

function watching(scaled: readonly Scaled[]): Table {
  const [{ podBytes } = { podBytes: 0 }] = scaled;
  return {
    title: "reaper: what it costs to watch a cluster",
    shows: [
      `with --all-jobs; 200 of the pods are of Jobs; a pod has ${number(podBytes / 1000)} kB of JSON; a real etcd and API server`,
      "the list: from the start until all pods are there; in the row with the most pods and no flags, the memory at the",
      "end is that after the second list",
      "memory from /proc/PID/status, MB of 10^6 bytes; the change is of one pod's status",
    ],
    columns: [
      ...["pods", "flags", "list s", "requests", "cpu s", "server's cpu s"],
      ...["quiet cpu %", "change cpu ms", "RSS MB", "RSS at the end", "most"],
    ],
    rows: scaled.map(({ pods, flags, list, memory, quietShare, changeCpuMs }) => [
      ...[String(pods), flags, number(list.seconds), String(list.requests), number(list.cpuSeconds)],
      ...[number(list.serverCpuSeconds), number(100 * quietShare), number(changeCpuMs)],
      ...[memory.listed, memory.last, memory.most].map(number),
    ]),
  };
}

function ending(scaled: readonly Scaled[]): Table {
  return {
    title: "reaper: 200 Jobs that are stuck at once, by port-forward",
    shows: [
      "s until asked: from the status in which the app has ended until the sidecar's shutdown request, --after (5 s) included",
      "requests to the API server, streams too, and processor time: of each Job; the kubelet is a stand-in",
    ],
    columns: ["pods", "flags", "first asked s", "median s", "last s", "requests a Job", "cpu ms a Job"],
    rows: scaled.map(({ pods, flags, asked, job }) => [
      ...[String(pods), flags, ...[asked.first, asked.median, asked.last, job.requests, job.cpuMs].map(number)],
    ]),
  };
}
