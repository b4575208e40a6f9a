import { temporaryFolder } from "../../harness/ebb.ts";
import { ebb } from "../candidates.ts";
import type { Figure } from "../figure.ts";
import { startSidecar } from "../sidecar.ts";
import { buildBare } from "./bare.ts";
import { measureCold } from "./cold.ts";
import { measureEnds } from "./ends.ts";
import { measureFile } from "./file.ts";
import { measureLives } from "./lives.ts";
import { measureLooks } from "./looks.ts";
import { measurePages } from "./pages.ts";
import { place } from "./place.ts";
import { measurePods } from "./pods.ts";
import { BARE, EBB, figuresTable, goalsTable, type Row } from "./row.ts";
import { measureWaits } from "./waits.ts";

const FULL = { lives: 300, ends: 200, cold: 20, waits: 20, looks: 5, waitMs: 9500, pods: 100 };
const QUICK = { lives: 50, ends: 40, cold: 5, waits: 8, looks: 2, waitMs: 3000, pods: 100 };

/** Measures what each pod pays for ebb: its start, its end, its memory, its wait, its file. */
export const start: Figure = {
  name: "start",
  async run({ rivals, isQuick }) {
    using folder = temporaryFolder();
    await using sidecar = startSidecar();
    const counts = isQuick ? QUICK : FULL;
    const tools = [ebb, ...rivals].map((tool) => ({ ...tool, path: place(tool.path, folder.path, tool.name) }));
    const bare = buildBare(folder.path);
    const url = await sidecar.open(0);
    const rows: readonly Row[] = [
      ...(await measureLives({ bare, tools, url, rounds: counts.lives })),
      ...(await measureEnds(tools, counts.ends)),
      ...(await measurePods(bare, tools, counts.pods)),
      ...(await measureWaits(tools, counts.waits, counts.waitMs)),
      ...(await measureLooks(tools, counts.looks)),
      ...(await measurePages(bare, tools)),
      ...(await measureCold({ bare, tools, rounds: counts.cold })),
      ...measureFile(tools, isQuick),
    ];
    const names = [EBB, BARE, ...rivals.map(({ name }) => name)];
    return [figuresTable(rows, names, howOf(counts)), goalsTable(rows)];
  },
};

function howOf({ lives, ends, waits, waitMs }: typeof FULL): readonly string[] {
  return [
    "bare Bun: a hello that ends at once (sleep), and a program that spawns true and exits with its code (run), made by the same build",
    `${lives} whole lives and ${ends} ends of each, in a random order; ${waits} waits of ${waitMs / 1000} s, rivals 2`,
  ];
}
