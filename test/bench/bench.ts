// bun test/bench/bench.ts [--rival NAME=PATH]... [--quick] [--for 1h] [--file FILE] [FIGURE]... measures dist/ebb (or
// EBB=PATH) beside other tools. NAME is scuttle, envoy-preflight, linkerd-await, pilot-agent, tini or dumb-init, or one of
// these with a suffix (scuttle-old); the tini and dumb-init of PATH always take part. Ratios are to the first rival that
// can do the task. Nothing else should run meanwhile. It takes some minutes, scale twenty, inject ten, and drain more
// at first: it compiles the programs that it runs. --for and --file are for rolls and soak, which go on for so long, and
// count in FILE.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseDuration } from "../../src/shared/core/duration.ts";
import { ebbPath } from "../harness/ebb.ts";
import { bun } from "./bun.ts";
import { parseRival } from "./candidates.ts";
import { reaper } from "./cluster/reaper.ts";
import { scale } from "./cluster/scale.ts";
import { soak } from "./cluster/soak.ts";
import { webhook } from "./cluster/webhook.ts";
import { drain } from "./drain/drain.ts";
import { drainMemory } from "./drain/drain-memory.ts";
import type { Figure, Setup } from "./figure.ts";
import { inits } from "./forwarding.ts";
import { findInits } from "./inits.ts";
import { inject } from "./inject/inject.ts";
import { install } from "./install.ts";
import { job } from "./job.ts";
import { rolls } from "./rolls/rolls.ts";
import { start } from "./start/start.ts";
import { formatTable } from "./table.ts";

const figures: readonly Figure[] = [
  start,
  job,
  drain,
  drainMemory,
  inits,
  webhook,
  reaper,
  scale,
  soak,
  rolls,
  bun,
  install,
  inject,
];

const { wanted, ...setup } = readArguments();
for (const figure of wanted) for (const table of await figure.run(setup)) console.log(formatTable(table));

function readArguments(): Setup & { readonly wanted: readonly Figure[] } {
  try {
    const { values, positionals } = parseArgs({
      options: {
        rival: { type: "string", multiple: true, default: [] },
        quick: { type: "boolean", default: false },
        for: { type: "string" },
        file: { type: "string" },
      },
      allowPositionals: true,
    });
    if (!existsSync(ebbPath)) throw new Error(`${ebbPath} is missing: npm run build`);
    const given = values.rival.map(parseRival);
    const wanted = positionals.length === 0 ? figures : positionals.map(findFigure);
    const forMs = values.for === undefined ? undefined : parseDuration(values.for);
    if (values.for !== undefined && forMs === undefined) throw new Error(`--for ${values.for}: expected a time, 1h`);
    return {
      rivals: [...given, ...findInits(given)],
      isQuick: values.quick,
      ...(forMs === undefined ? {} : { forMs }),
      ...(values.file === undefined ? {} : { file: resolve(values.file) }),
      wanted,
    };
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(64);
  }
}

function findFigure(name: string): Figure {
  const found = figures.find((figure) => figure.name === name);
  if (found === undefined)
    throw new Error(`${name}: expected any of ${figures.map((figure) => figure.name).join(", ")}`);
  return found;
}
