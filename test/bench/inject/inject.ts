import { dirname, join } from "node:path";
import { withCluster } from "../../cluster/rig/enter.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { programsOf } from "../../sidecars/programs.ts";
import { ebb } from "../candidates.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";
import { number, type Table } from "../table.ts";
import type { Started } from "./inside.ts";

/**
 * Measures how long pods take from their creation until they are ready, alone and many at once: without ebb, with an init
 * container that does nothing, and injected, by each ebb (--rival ebb-old=PATH). Needs root.
 */
export const inject: Figure = {
  name: "inject",
  async run({ isQuick, rivals }) {
    for (const name of programsOf("cluster")) compiledProgram(name); // here, because that downloads
    const runtime = (["containerd", "containerd-shim", "ctr"] as const).map((name) => compiledProgram(name).path);
    process.env.PATH = [...runtime.map(dirname), process.env.PATH].join(":"); // the rig takes it there: Debian 12's mounts no images
    using folder = temporaryFolder();
    const output = join(folder.path, "output.json");
    const script = join(import.meta.dirname, "with-images.ts");
    const others = rivals.filter(({ kind }) => kind === ebb.kind).map(({ name, path }) => `${name}=${path}`);
    const command = [process.execPath, script, output, isQuick ? "quick" : "all", ...others];
    const code = await withCluster(command, console.log);
    if (code !== 0) throw new Error(`${script}: exit code ${code}`);
    return [table(await Bun.file(output).json())];
  },
};

function table(started: readonly Started[]): Table {
  const cells = [...Map.groupBy(started, ({ count, way }) => `${count} ${way}`).values()];
  return {
    title: "inject: pods that start at once, from the creation of the first until they are ready",
    shows: [
      "a real kubelet and containerd; API server and etcd on the same processors; the images are there",
      "medians of the rounds: of the pods' median, of the last pod, and of what is in a pod's volumes, MB of 10^6 bytes",
    ],
    columns: ["pods", "way", "rounds", "ready, s", "the last, s", "- no ebb, s", "MB a pod"],
    rows: cells.flatMap((own) => {
      const [first] = own;
      if (first === undefined) return [];
      const { count, way } = first;
      const last = lastOf(own);
      const none = lastOf(started.filter((one) => one.count === count && one.way === "no ebb"));
      const times = [median(own.map(({ readyMs }) => median(readyMs))) / 1000, last, last - none];
      const written = median(own.map(({ bytes }) => bytes / count / 1e6));
      return [[String(count), way, String(own.length), ...[...times, written].map(number)]];
    }),
  };
}

/** Returns the median of the times of the last pods, in seconds. */
function lastOf(rounds: readonly Started[]): number {
  return median(rounds.map(({ readyMs }) => Math.max(...readyMs))) / 1000;
}
