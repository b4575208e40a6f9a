import { join } from "node:path";
import { cacheFolder } from "../../../build/setup/cache.mjs";
import type { LostCalls } from "../../cluster/programs/careful.ts";
import { withCluster } from "../../cluster/rig/enter.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { programsOf } from "../../sidecars/programs.ts";
import type { Figure } from "../figure.ts";
import { digestOfEbb } from "../record.ts";
import type { Table } from "../table.ts";
import { type LostRequest, readRolls } from "./record.ts";

const SIGINT_CODE = 130;

/**
 * Counts what is lost, cut and refused when pods go, of clients' requests and of the apps' own calls: servers, workers and
 * Jobs, whose apps need 0, 3 and 20 s after SIGTERM, in each way in which a proxy outlives its app. Adds to what former runs
 * have counted of the same executable. Needs root.
 */
export const rolls: Figure = {
  name: "rolls",
  async run({ isQuick, forMs = isQuick ? 1 : undefined, file = join(cacheFolder(), "rolls.jsonl") }) {
    for (const name of programsOf("cluster")) compiledProgram(name); // here, because that downloads
    const ebb = await digestOfEbb();
    const withImages = join(import.meta.dirname, "with-images.ts");
    const inside = join(import.meta.dirname, "inside.ts");
    const command = [process.execPath, withImages, inside, file, ebb, ...(forMs === undefined ? [] : [`${forMs}`])];
    const code = await withCluster(command, console.log);
    if (code !== 0 && code !== SIGINT_CODE) throw new Error(`inside.ts: exit code ${code}`);
    return tablesOf(file, ebb);
  },
};

function tablesOf(file: string, ebb: string): readonly Table[] {
  const { rolls, lost } = readRolls(file, ebb);
  const title = `rolls, of ebb ${ebb}`;
  const shows = [
    `${rolls.length} rolls since ${rolls[0]?.at ?? "now"}: ${countsOf(rolls.map(({ going }) => going))}`,
    "two pods or a Job; each kind of client at once, no retries; all on the same processors",
    file,
  ];
  const cells = Map.groupBy(rolls, ({ shape, needsMs, way }) => [shape, `${needsMs / 1000} s`, way].join("\t"));
  const byWay = [...cells]
    .toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([cell, own]) => {
      const inward = lost.filter(({ roll }) => own.some(({ at }) => at === roll));
      const outward = own.flatMap(({ lostOut }) => lostOut.flatMap((one) => Array<LostCalls>(one.count).fill(one)));
      return [
        ...cell.split("\t"),
        `${own.length}`,
        `${sum(own.flatMap(({ sent }) => Object.values(sent)))}`,
        sortsOf(inward),
        `${sum(own.map(({ before }) => before))} + ${sum(own.map(({ after }) => after))}`,
        sortsOf(outward),
        `${(Math.max(...own.flatMap(({ goneMs }) => goneMs)) / 1000).toFixed(1)} s`,
        countsOf(inward.map(wordsOf)),
        countsOf(outward.map(wordsOf)),
      ];
    });
  const kinds = [...new Set(rolls.flatMap(({ sent }) => Object.keys(sent)))];
  const byClient = kinds.map((kind) => {
    const own = lost.filter(({ client }) => client === kind);
    return [kind, `${sum(rolls.map(({ sent }) => sent[kind] ?? 0))}`, sortsOf(own), countsOf(own.map(({ by }) => by))];
  });
  const columns = ["app", "needs", "proxy", "rolls", "in", "lost/cut/refused", "out", "lost/cut/refused", "gone after"];
  return [
    { title, shows, columns: [...columns, "what lost them in", "and out"], rows: byWay },
    {
      title: `${title}: requests by client`,
      shows: [],
      columns: ["client", "in", "lost/cut/refused", "what"],
      rows: byClient,
    },
  ];
}

/** Counts what was lost without an answer, what was cut off in its answer, and what was refused: `0/1/2`. */
function sortsOf(lost: readonly Pick<LostRequest, "by">[]): string {
  const sorts = lost.map(({ by }) => sortOf(by));
  return ["lost", "cut", "refused"].map((sort) => sorts.filter((one) => one === sort).length).join("/");
}

function wordsOf({ client, by }: Pick<LostRequest, "client" | "by">): string {
  return `${client}: ${by}`;
}

function sortOf(by: string): "lost" | "cut" | "refused" {
  if (by.endsWith("cut") || by.startsWith("RST_STREAM")) return "cut";
  return /refused|HTTP 5|grpc-status 14|^no |safe to retry/.test(by) ? "refused" : "lost";
}

/** Counts equal words: `3 restart, 2 eviction`. */
function countsOf(words: readonly string[]): string {
  const groups = Object.entries(Object.groupBy(words, (word) => word));
  return groups.map(([word, each = []]) => `${each.length} ${word}`).join(", ");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
