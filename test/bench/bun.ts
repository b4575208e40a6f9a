import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fetchBun, type Locked, lockedBun } from "../../build/link/musl-bun.ts";
import { targetNamed } from "../../build/targets.ts";
import type { Figure } from "./figure.ts";
import { number } from "./table.ts";

const target = targetNamed(process.arch);
const lockfile = resolve(import.meta.dirname, "../../package-lock.json");

/** Compares the size of the Bun that ebb is built with to that of the registry's newest: most of the file is Bun. */
export const bun: Figure = {
  name: "bun",
  async run() {
    const pinned = lockedBun(target, lockfile);
    const releases = [["pinned", pinned] as const, ["newest", newest()] as const];
    const sizes = releases.map(([, release]) => statSync(fetchBun(target.bunPackage, release)).size);
    const isSmaller = (sizes[1] as number) < (sizes[0] as number);
    return [
      {
        title: "Bun for musl",
        shows: [isSmaller ? "the newest is smaller: try it (build/BUN.md)" : "the newest is not smaller"],
        columns: ["", "version", "MB"],
        rows: releases.map(([name, { version }], index) => [name, version, number((sizes[index] as number) / 1e6)]),
      },
    ];
  },
};

function newest(): Locked {
  const words = ["view", `${target.bunPackage}@latest`, "version", "dist.integrity", "--json"];
  const { status, stdout, stderr } = spawnSync("npm", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${words.join(" ")}: ${stderr.trim()}`);
  const { version, "dist.integrity": integrity } = JSON.parse(stdout) as Record<string, string>;
  if (version === undefined || integrity === undefined) throw new Error(`npm: no version and digest in ${stdout}`);
  return { version, integrity };
}
