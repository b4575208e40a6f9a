// bun test/bench/bench.ts [--rival NAME=PATH]... [--quick] [FIGURE]...: measures dist/ebb (or EBB=PATH) beside other tools.
// NAME is scuttle, envoy-preflight, linkerd-await, tini or dumb-init, or starts so; tini and dumb-init of PATH take part by
// themselves. Ratios are to the first rival that can do it. Nothing else should run meanwhile; it takes some minutes.
import { parseArgs } from "node:util";
import { parseRival } from "./candidates.ts";
import { exitToQuit } from "./exit-to-quit.ts";
import type { Figure } from "./figure.ts";
import { findInits } from "./inits.ts";
import { memory } from "./memory.ts";
import { readyToStart } from "./ready-to-start.ts";
import { reliability } from "./reliability.ts";
import { size } from "./size.ts";
import { startUp } from "./start-up.ts";
import { formatTable } from "./table.ts";

const figures: readonly Figure[] = [startUp, readyToStart, exitToQuit, memory, reliability, size];

const { values, positionals } = parseArgs({
  options: { rival: { type: "string", multiple: true, default: [] }, quick: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !figures.some((figure) => figure.name === name));
if (unknown.length > 0)
  throw new Error(`${unknown.join(" ")}: expected any of ${figures.map(({ name }) => name).join(", ")}`);
const given = values.rival.map(parseRival);
const rivals = [...given, ...findInits(given)];
for (const figure of figures) {
  if (positionals.length > 0 && !positionals.includes(figure.name)) continue;
  for (const table of await figure.run({ rivals, isQuick: values.quick })) console.log(formatTable(table));
}
