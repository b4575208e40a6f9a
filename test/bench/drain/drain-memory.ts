import { endWithPeak } from "../../binary/sidecars/peak.ts";
import { startEbb } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { answersOf, cluster, type Many, usedListeners } from "../../stand-in/many-clusters.ts";
import { ebb } from "../candidates.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";
import { number, type Table } from "../table.ts";

const SIZES = [100, 5000, 20_000];
const LOOK_MS = 10;
const MEGABYTE = 1_000_000;

/** Measures the most memory that a drain takes beside an Envoy with many listeners or clusters. */
export const drainMemory: Figure = {
  name: "drain-memory",
  async run({ rivals, isQuick }) {
    const rows: string[][] = [];
    for (const { name, path } of [ebb, ...rivals.filter(({ kind }) => kind === ebb.kind)]) {
      for (const [what, answersOf] of Object.entries(envoys)) {
        const cells: string[] = [];
        for (const size of SIZES) cells.push(number(await peakBeside(path, answersOf(size), isQuick ? 1 : 5)));
        rows.push([name, what, ...cells]);
      }
    }
    return [table(rows)];
  },
};

const envoys: Readonly<Record<string, (size: number) => Many>> = {
  "used listeners (/stats)": (size) => ({ stats: () => usedListeners(size), clusters: () => [].values() }),
  "clusters (/clusters), no statistics": (size) => ({ clusters: () => clustersOf(size) }),
};

/** Yields /clusters with `size` clusters; one is inbound, and has requests under way as long as the drain lasts. */
function* clustersOf(size: number): Generator<string> {
  yield cluster("inbound|8080||", 1);
  for (let at = 1; at < size; at += 1) yield cluster(`outbound|80||service-${at}.shop.svc.cluster.local`, 5);
}

/**
 * Returns the most memory of a drain that counts until its time is over, in MB of 10^6 bytes, the median of some
 * drains.
 */
async function peakBeside(path: string, answers: Many, times: number): Promise<number> {
  await using envoy = await startEnvoy(answersOf(answers));
  const flags = ["--sidecar", "istio", "--admin", envoy.url, "--min-drain", "0s", "--drain", "4s"];
  const peaks: number[] = [];
  for (let time = 0; time < times; time += 1) {
    await using draining = startEbb(["drain", ...flags], { program: path });
    const { ended, peak } = await endWithPeak(draining, LOOK_MS);
    if (ended.code !== 69) throw new Error(`drain: exit code ${ended.code} with requests under way`);
    peaks.push(peak / MEGABYTE);
  }
  return median(peaks);
}

function table(rows: Table["rows"]): Table {
  return {
    title: "drain-memory: the most memory that a drain of 4 s takes, MB of 10^6 bytes",
    shows: [
      "VmHWM of /proc/PID/status, the median; each second it counts what is in flight",
      "the Envoy is a stand-in that tells as much as one with so many used listeners or clusters",
    ],
    columns: ["", "beside", ...SIZES.map(String)],
    rows,
  };
}
