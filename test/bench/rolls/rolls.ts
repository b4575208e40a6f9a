import { join } from "node:path";
import { cacheFolder } from "../../../build/setup/cache.mjs";
import { withCluster } from "../../cluster/rig/enter.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import { programsOf } from "../../sidecars/programs.ts";
import type { Figure } from "../figure.ts";
import { digestOfEbb } from "../record.ts";
import type { Table } from "../table.ts";
import { type LostRequest, readRolls } from "./record.ts";

/** The kinds of clients (test/cluster/programs/clients.ts), and what they send. */
const clients = {
  new: "a connection for each",
  busy: "a kept connection",
  quick: "kept, pauses of 25 ms",
  pausing: "kept, pauses of 0 to 1.5 s",
  slow: "kept, pauses of 1 s",
  long: "kept, requests of 10 s",
  http2: "HTTP/2, a kept connection",
  grpc: "gRPC streams of 1 to 5 s",
} as const;

const DEFAULT_MS = 300_000;
const SIGINT_CODE = 130;

/**
 * Counts the requests that are lost when pods go: rolling restarts, scale-downs and evictions of Deployments that are as
 * in the manual, under clients that never retry. Adds to what former runs have counted of the same executable. Needs
 * root.
 */
export const rolls: Figure = {
  name: "rolls",
  async run({ isQuick, forMs = isQuick ? 0 : DEFAULT_MS, file = join(cacheFolder(), "rolls.jsonl") }) {
    for (const name of programsOf("cluster")) compiledProgram(name); // here, because that downloads
    const ebb = await digestOfEbb();
    const withImages = join(import.meta.dirname, "with-images.ts");
    const inside = join(import.meta.dirname, "inside.ts");
    const command = [process.execPath, withImages, inside, file, ebb, `${forMs}`];
    const code = await withCluster(command, console.log);
    if (code !== 0 && code !== SIGINT_CODE) throw new Error(`inside.ts: exit code ${code}`);
    return [table(file, ebb)];
  },
};

function table(file: string, ebb: string): Table {
  const { rolls, lost } = readRolls(file, ebb);
  const sidecars = [...new Set(rolls.map(({ sidecar }) => sidecar))].toSorted();
  const rows = Object.entries(clients).flatMap(([client, name]) =>
    sidecars.map((sidecar) => {
      const sent = sum(rolls.filter((roll) => roll.sidecar === sidecar).map((roll) => roll.sent[client] ?? 0));
      return rowOf(
        [name, sidecar],
        sent,
        lost.filter((one) => one.client === client && one.sidecar === sidecar),
      );
    }),
  );
  const all = sum(rolls.flatMap((roll) => Object.values(roll.sent)));
  return {
    title: `rolls: requests that were lost when pods went, of ebb ${ebb}`,
    shows: [
      `${rolls.length} rolls since ${rolls[0]?.at ?? "now"}: ${countsOf(rolls.map(({ way }) => way))}`,
      "the manual's Deployments of two pods; requests of 0 to 0.3 s, no retries; all on the same processors",
      file,
    ],
    columns: ["client", "sidecar", "sent", "lost", "what lost them"],
    rows: [...rows, rowOf(["all", ""], all, lost)],
  };
}

function rowOf(names: readonly string[], sent: number, lost: readonly LostRequest[]): readonly string[] {
  return [...names, `${sent}`, `${lost.length}`, countsOf(lost.map(({ by }) => by))];
}

/** Counts equal words: `3 restart, 2 eviction`. */
function countsOf(words: readonly string[]): string {
  const groups = Object.entries(Object.groupBy(words, (word) => word));
  return groups.map(([word, each = []]) => `${each.length} ${word}`).join(", ");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
