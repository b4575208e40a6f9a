import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locked } from "../../build/link/pinned-bun.ts";
import { temporaryFolder } from "../harness/ebb.ts";
import { linkBun, newestBun, pinned } from "../harness/linked-bun.ts";
import type { Figure } from "./figure.ts";
import { live } from "./measure.ts";
import { place } from "./start/place.ts";
import { median, shuffled } from "./statistics.ts";
import { number, type Table } from "./table.ts";

interface Entry {
  readonly release: Locked;
  readonly path: string;
  readonly sizes: readonly number[];
  readonly ms: number[];
}

/** Shows what the registry's newest Bun would cost beside the pinned one, each linked alone as the build links ebb. */
export const bun: Figure = {
  name: "bun",
  async run({ isQuick }) {
    using folder = temporaryFolder();
    const newest = newestBun();
    const isPinned = newest.version === pinned.version;
    const entries = (isPinned ? [pinned] : [pinned, newest]).map((release) => linked(release, folder.path));
    for (let round = 0; round < (isQuick ? 20 : 100); round++)
      for (const { path, ms } of shuffled(entries)) {
        const life = await live({ words: [path, "--eval", "0"], env: {} }, "silent");
        if (life.code !== 0) throw new Error(`${path} exited with ${life.code}`);
        ms.push((life.endNs - life.startNs) / 1e6);
      }
    return [tableOf(entries, isPinned ? "the pinned release is the newest" : "take the newest: build/BUN.md says how")];
  },
};

function linked(release: Locked, folder: string): Entry {
  const { input, output } = linkBun(release);
  const path = join(folder, release.version);
  writeFileSync(path, output, { mode: 0o755 });
  const sizes = [input, output].map(({ length }) => length / 1e6);
  return { release, path: place(path, folder, `bun-${release.version}`), sizes, ms: [] };
}

function tableOf(entries: readonly Entry[], verdict: string): Table {
  return {
    title: "Bun for musl",
    shows: [verdict, "ms: the start and end of a program that does nothing"],
    columns: ["", "version", "MB", "MB linked", "ms"],
    rows: entries.map(({ release: { version }, sizes, ms }) => [
      version === pinned.version ? "pinned" : "newest",
      version,
      ...[...sizes, median(ms)].map(number),
    ]),
  };
}
