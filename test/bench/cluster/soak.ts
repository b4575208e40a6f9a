import { join } from "node:path";
import { cacheFolder } from "../../../build/setup/cache.mjs";
import { withCluster } from "../../cluster/rig/enter.ts";
import type { Figure } from "../figure.ts";
import { digestOfEbb } from "../record.ts";
import { median } from "../statistics.ts";
import { number, type Table } from "../table.ts";
import { type Held, type Minute, readSoaks } from "./soak-record.ts";

const DEFAULT_MS = 7_200_000;
const QUICK_MS = 90_000;
/** The minutes that are compared, after a first ten, and before the end. */
const COMPARED = 10;

/**
 * Has a webhook and a reaper work for hours under load, while the API server is killed and certificates are replaced.
 * Adds to what former runs have recorded of the same executable. Needs root.
 */
export const soak: Figure = {
  name: "soak",
  async run({ isQuick, forMs = isQuick ? QUICK_MS : DEFAULT_MS, file = join(cacheFolder(), "soak.jsonl") }) {
    const ebb = await digestOfEbb();
    const inside = [join(import.meta.dirname, "soak-inside.ts"), file, ebb, `${forMs}`, isQuick ? "quick" : "all"];
    const code = await withCluster([process.execPath, ...inside], console.log, "api-server");
    if (code !== 0) throw new Error(`soak-inside.ts: exit code ${code}`);
    const soaks = readSoaks(file, ebb);
    return [work(soaks, ebb), held(soaks)];
  },
};

function work(soaks: readonly (readonly Minute[])[], ebb: string): Table {
  return {
    title: `soak: what the webhook and the reaper did, of ebb ${ebb}`,
    shows: [
      "500 pods a minute that ask for ebb, 500 Jobs that get stuck, 500 changes of 1,000 other pods",
      "a real etcd and API server, which is killed every ten minutes; a stand-in for the kubelet",
      "wait: seconds from the end of a Job's app until the shutdown request, --after (5 s) included",
    ],
    columns: [
      ...["begun", "minutes", "API server killed", "certificates", "CAs", "pods with ebb", "Jobs ended"],
      ...["median wait", "longest", "went wrong"],
    ],
    rows: soaks.map((minutes) => {
      const { wrong, ...last } = minutes.at(-1) as Minute;
      return [
        ...[last.soak, last.minute, last.restarts, last.certificates, last.authorities].map(String),
        ...[String(last.injected), String(last.ended)],
        number(median(minutes.map(({ medianWait }) => medianWait))),
        number(Math.max(...minutes.map(({ longestWait }) => longestWait))),
        wordsOf(wrong),
      ];
    }),
  };
}

function wordsOf(wrong: Minute["wrong"]): string {
  const words = Object.entries(wrong).map(([what, count]) => `${count} ${what}`);
  return words.length === 0 ? "nothing" : words.join("; ");
}

function held(soaks: readonly (readonly Minute[])[]): Table {
  const services = ["webhook", "reaper"] as const;
  return {
    title: "soak: what they held",
    shows: [
      `anonymous memory (RssAnon), the least of each minute, MB of 10^6 bytes: medians of minutes ${COMPARED + 1} to ${2 * COMPARED}, and of`,
      `the last ${COMPARED}; most: resident memory (VmHWM), with the executable's pages; descriptors: the least of each minute`,
    ],
    columns: ["begun", "", "early MB", "late MB", "most MB", "early descriptors", "late descriptors", "cpu %"],
    rows: soaks.flatMap((minutes) => services.map((name) => rowOf(minutes, name))),
  };
}

function rowOf(minutes: readonly Minute[], name: "webhook" | "reaper"): readonly string[] {
  const [early, late] = [minutes.slice(COMPARED, 2 * COMPARED), minutes.slice(-COMPARED)];
  const of = (some: readonly Minute[], value: (held: Held) => number) =>
    median(some.map((minute) => value(minute[name])));
  const memory = [early, late].map((some) => number((of(some, ({ rssAnon }) => rssAnon) * 1024) / 1e6));
  const descriptors = [early, late].map((some) => String(of(some, (each) => each.descriptors)));
  const last = minutes.at(-1) as Minute;
  const most = number(last[name].most / 1e6);
  return [last.soak, name, ...memory, most, ...descriptors, number((100 * last[name].cpuSeconds) / last.seconds)];
}
