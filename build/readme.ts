import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../src/command.ts";
import { commands } from "../src/commands.ts";
import { defaultOf, flagOf, groupTitles, ownVariable } from "../src/shared/cli/core/help.ts";
import { type Option, type OptionGroup, type Options, variableName } from "../src/shared/cli/core/option.ts";
import { options } from "../src/shared/cli/core/options.ts";
import { exitMeanings } from "../src/shared/core/exit.ts";
import { type InitFeature, initFeatures } from "./inits.ts";
import { code, contentOf, list, table, withContent } from "./markdown.ts";
import { type Metric, reaperMetrics, webhookMetrics } from "./metric-tables.ts";
import { alertTable, hangingRule } from "./monitoring/monitoring.ts";
import { factLists, sidecarTable } from "./sidecar-tables.ts";

const root = join(import.meta.dirname, "..");

const metrics = { webhook: await webhookMetrics(), reaper: await reaperMetrics() };

/** The pages and their tables, made from declarations. Each stands between `<!-- NAME -->` and `<!-- /NAME -->`. */
const pages: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "README.md": { "terminal output": terminalOutput },
  "src/manual/options.md": { options: () => groupedOptions(options) },
  "src/manual/webhook.md": { "rare options": () => rareList("webhook") },
  "src/manual/reaper.md": { "rare options": () => rareList("reaper") },
  "src/manual/exit-codes.md": { exits: exitTable },
  "src/manual/init.md": { inits: initTable },
  "src/manual/monitoring.md": {
    alerts: alertTable,
    "webhook metrics": () => metricList(metrics.webhook, "ebb_webhook_"),
    "reaper metrics": () => metricList(metrics.reaper, "ebb_reaper_"),
  },
  "src/manual/hanging.md": { "hanging alert": hangingRule },
  "src/manual/sidecars.md": { sidecars: sidecarTable },
  "test/EVIDENCE.md": { facts: factLists },
};

/** The pages that have such tables, by their paths in the repository. */
export const pagePaths: readonly string[] = Object.keys(pages);

/** Returns the text of a page with its tables written again. @throws Error if the page has no place for one of them */
export function withTables(page: string, text: string): string {
  let made = text;
  for (const [name, table] of Object.entries(pages[page] ?? {})) {
    const next = withContent(made, name, table());
    if (next === undefined) throw new Error(`${page} has no place for the table of ${name}`);
    made = next;
  }
  return made;
}

/** What a command prints, as its page has it. */
function terminalOutput(): string {
  const page = readFileSync(join(root, "src/manual/kubectl.md"), "utf8");
  return `\n    ${contentOf(page, "why output")?.trim()}\n\n`;
}

/** Lists what the command's help only names. */
function rareList(name: "webhook" | "reaper"): string {
  const all = Object.entries((commands[name] as Command).options);
  return optionList(Object.fromEntries(all.filter(([, { isRare }]) => isRare)));
}

function optionList(options: Options): string {
  return list(
    Object.values(options).map((option) => {
      const initial = defaultOf(option);
      const variable = ownVariable(option);
      const notes = [
        variable === undefined ? "" : code(variable),
        option.repeatable ? "repeatable" : "",
        initial === "" ? "" : `default: ${initial}`,
      ];
      return `${code(flagOf(option))} (${notes.filter(Boolean).join("; ")}): ${option.help}`;
    }),
  );
}

/** The pages about the groups of options. */
const groupPages: Partial<Record<OptionGroup, string>> = {
  sidecars: "sidecars",
  waiting: "wait",
  child: "run",
  shutdown: "quit",
  request: "status",
  log: "logs",
};

/** Names the options of each group, with their defaults, and with those of their variables that are not named as usual. */
function groupedOptions(options: Options): string {
  const groups = Map.groupBy(Object.values(options), ({ group }) => group);
  const items = [...groups].map(([group, members]) => {
    const page = groupPages[group];
    const title = groupTitles[group];
    return `${page === undefined ? title : `[${title}](${page}.md)`}: ${members.map(withDefault).join(", ")}`;
  });
  return list(items);
}

function withDefault(option: Option<unknown>): string {
  const variable = ownVariable(option);
  const isUsual = variable === undefined || variable === variableName(option.flag);
  const text = [defaultOf(option), isUsual ? "" : code(variable)].filter(Boolean).join("; ");
  return `${code(flagOf(option))}${text === "" ? "" : ` (${text})`}`;
}

function exitTable(): string {
  return table(["exit code", "meaning"], exitMeanings);
}

/** Lists the metrics that have a prefix, with what their help begins with. */
function metricList(all: readonly Metric[], prefix: string): string {
  const own = all.filter(({ name }) => name.startsWith(prefix));
  return list(
    own.map(({ name, labels, help }) => {
      const by = [...labels].map(labelText).join("; ");
      return `${code(name)}${by === "" ? "" : ` (${by})`}: ${/^[^,.:;]+/.exec(help)}`;
    }),
  );
}

/** What is said of labels whose values are not ebb's own, or are listed elsewhere. */
const openLabels: Readonly<Record<string, string>> = {
  code: "HTTP status",
  verb: "the request's verb, `connect` for exec and port-forward",
};

/** Only the verdicts about pods have more values than this: another page lists them. */
const MANY = 12;

function labelText([label, values]: readonly [string, ReadonlySet<string>]): string {
  if (values.size > MANY) return `${code(label)}: [the reasons](reaper.md#which-pods-it-leaves-alone)`;
  return `${code(label)}: ${openLabels[label] ?? [...values].map(code).join(", ")}`;
}

function initTable(): string {
  const rows = Object.entries(initFeatures).map(([name, feature]: [string, InitFeature]) => [
    name,
    ...[feature.tini, feature["dumb-init"], feature.ebb].map(flagsOf),
  ]);
  return table(["", "tini", "dumb-init", "ebb"], rows);
}

function flagsOf(flags: readonly string[] | undefined): string {
  if (flags === undefined) return "no";
  return flags.length === 0 ? "always" : code(flags.join(" "));
}

if (import.meta.main) {
  for (const page of pagePaths) {
    const path = join(root, page);
    writeFileSync(path, withTables(page, readFileSync(path, "utf8")));
  }
}
