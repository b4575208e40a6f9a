import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../src/command.ts";
import { commands } from "../src/commands.ts";
import { defaultOf, flagOf, ownVariable } from "../src/shared/cli/core/help.ts";
import type { Options } from "../src/shared/cli/core/option.ts";
import { options } from "../src/shared/cli/core/options.ts";
import { exitMeanings } from "../src/shared/core/exit.ts";
import { type Fact, readFacts } from "../src/shared/sidecars/core/kinds/fact.ts";
import type { SidecarKind } from "../src/shared/sidecars/core/kinds/kind.ts";
import { kindOf, type SidecarName, sidecarNames } from "../src/shared/sidecars/core/registry.ts";
import { type InitFeature, initFeatures } from "./inits.ts";
import { code, contentOf, list, table, withContent } from "./markdown.ts";
import { type Metric, reaperMetrics, webhookMetrics } from "./metric-tables.ts";
import { alertTable } from "./monitoring/monitoring.ts";

const root = join(import.meta.dirname, "..");

/** The facts that each sidecar's file states for the manual and the tests, in addition to what ebb itself uses. */
export const facts: ReadonlyMap<SidecarName, readonly Fact[]> = new Map(
  await Promise.all(
    sidecarNames.map(async (name) => {
      const { facts } = (await import(`../src/shared/sidecars/core/kinds/${name}.ts`)) as { readonly facts: string };
      return [name, readFacts(facts)] as const;
    }),
  ),
);

function factsOf(name: SidecarName): readonly Fact[] {
  return facts.get(name) ?? [];
}

const metrics = { webhook: await webhookMetrics(), reaper: await reaperMetrics() };

/** The pages and their tables, made from declarations. Each stands between `<!-- NAME -->` and `<!-- /NAME -->`. */
const pages: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "README.md": { "terminal output": terminalOutput },
  "src/manual/options.md": { options: () => optionList(options) },
  "src/manual/webhook.md": { "rare options": () => rareList("webhook") },
  "src/manual/reaper.md": { "rare options": () => rareList("reaper") },
  "src/manual/exit-codes.md": { exits: exitTable },
  "src/manual/init.md": { inits: initTable },
  "src/manual/monitoring.md": {
    alerts: alertTable,
    "webhook metrics": () => metricList(metrics.webhook, isOwn),
    "reaper metrics": () => metricList(metrics.reaper, isOwn),
    "process metrics": () => metricList(metrics.webhook, (metric) => !isOwn(metric)),
  },
  "src/manual/sidecars.md": Object.fromEntries(sidecarNames.map((name) => [name, () => sidecarTable(name)])),
  "src/manual/how-we-know.md": { facts: factLists },
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

/** What commands print, as their pages have it. */
function terminalOutput(): string {
  const outputs = [
    ["kubectl.md", "why"],
    ["reaper.md", "reaper"],
    ["doctor.md", "doctor"],
  ].map(([page = "", name]) =>
    contentOf(readFileSync(join(root, "src/manual", page), "utf8"), `${name} output`)?.trim(),
  );
  return `\n${outputs.map((output) => `    ${output}`).join("\n\n")}\n\n`;
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

function sidecarTable(name: SidecarName): string {
  const kind = kindOf(name);
  const drain = kind.drainPath === undefined ? "nothing" : `${drainOf(kind.drainPath)} at ${code(kind.admin)}`;
  const rows = [
    [`found by ${code("auto")}`, foundBy(kind)],
    ["waits for", readyOf(kind) ?? "nothing"],
    ["drained by", drain],
    ["shut down by", quitOf(kind)],
    ["tested with", knownBy(name)],
  ];
  return table([code(`--sidecar ${name}`), ""], rows);
}

/** Names the versions of the program that tests run. */
function knownBy(name: SidecarName): string {
  const versions = factsOf(name).flatMap((fact) => ("ran" in fact ? [fact.ran] : []));
  return versions.length === 0 ? "**nothing: it was read, not run**" : [...new Set(versions)].join(", ");
}

/** The names of the sidecars as their projects write them. */
const titles: Readonly<Record<SidecarName, string>> = {
  istio: "Istio",
  envoy: "Envoy",
  linkerd: "Linkerd",
  kuma: "Kuma",
  consul: "Consul",
  dapr: "Dapr",
  "vault-agent": "Vault Agent",
  "cloud-sql-proxy": "Cloud SQL Auth Proxy",
  "alloydb-auth-proxy": "AlloyDB Auth Proxy",
};

/** The facts of each sidecar: first what each test shows, then what was read. */
function factLists(): string {
  return sidecarNames
    .map((name) => {
      const kind = kindOf(name);
      const groups = Object.entries(Object.groupBy(factsOf(name), evidenceOf)).toSorted(
        ([one], [other]) => Number(one === READ) - Number(other === READ),
      );
      const lists = groups.map(
        ([evidence, facts = []]) => `${evidence}:\n\n${list(facts.map((fact) => factOf(fact, kind)))}`,
      );
      return `\n### ${titles[name]}\n\n${lists.join("\n")}`;
    })
    .join("");
}

const READ = "Read in the source";

function evidenceOf(fact: Fact): string {
  return "ran" in fact ? `${fact.ran}, run by ${code(fact.by)}` : READ;
}

function factOf(fact: Fact, kind: SidecarKind): string {
  const [label, value] = stated(fact.about, kind);
  const place = "read" in fact ? ` (${fact.read})` : "";
  return `**${label}**: ${[value, fact.says].filter(Boolean).join("; ")}${place}`;
}

/** Names a subject, and says what the declaration of a sidecar's kind states about it; undefined if it states nothing. */
function stated(about: Fact["about"], kind: SidecarKind): readonly [label: string, value: string | undefined] {
  const { name, image } = kind.containers();
  const patterns = [name, image].flatMap((pattern) => (pattern === undefined ? [] : code(pattern.source)));
  const texts: Readonly<Record<Fact["about"], readonly [label: string, value: string | undefined]>> = {
    admin: ["admin interface", code(kind.admin)],
    ready: ["readiness", readyOf(kind)],
    quit: ["shutdown", quitOf(kind)],
    exitsWhen: ["exits", kind.exitsWhen],
    alwaysOpen: [
      "open while it runs",
      kind.alwaysOpen === undefined ? undefined : `the port of ${code(kind[kind.alwaysOpen])}`,
    ],
    stop: ["at SIGTERM", undefined],
    refusals: ["refuses the shutdown with", Object.keys(kind.refusals()).join(", ")],
    drain: ["drain", kind.drainPath === undefined ? undefined : drainOf(kind.drainPath)],
    count: [
      "counted in a drain",
      kind.inbound === undefined
        ? undefined
        : `clusters ${code(kind.inbound.clusters)}, ports ${kind.inbound.ports.join(", ")}`,
    ],
    found: ["found by", foundBy(kind)],
    identity: ["shown to be this sidecar by", identityOf(kind)],
    native: ["native", undefined],
    moved: ["other endpoints", undefined],
    container: [
      "container",
      `named ${patterns[0]}${patterns[1] === undefined ? "" : `, or an image named ${patterns[1]}`}; processes ${kind.programs.map(code).join(", ")}`,
    ],
    reaper: ["ended by the reaper with", reapedBy(kind)],
  };
  return texts[about];
}

function reapedBy(kind: SidecarKind): string {
  const command = kind.reaping?.().command?.(9091);
  return command === undefined
    ? "its shutdown endpoint, through a port-forward or an ephemeral container"
    : code(command.join(" "));
}

function identityOf({ identity, drainPath }: SidecarKind): string | undefined {
  const path = identity?.path ?? (drainPath === undefined ? undefined : "/server_info");
  return path === undefined ? undefined : code(`GET ${path}`);
}

/** Names the targets of which any counts; undefined if it is not waited for. */
function readyOf({ ready, orReady = [] }: SidecarKind): string | undefined {
  if (ready === undefined) return undefined;
  return [ready, ...orReady].map((url) => code(url.startsWith("http") ? `GET ${url}` : url)).join(" or ");
}

function drainOf(path: string): string {
  return code(`POST ${path}`);
}

function quitOf({ quit, quitPath, adminSocket }: SidecarKind): string {
  const own = code(`POST ${quit}`);
  return adminSocket === undefined ? own : `${own}, or ${code(`${quitPath}`)} at ${code(`unix:${adminSocket}`)}`;
}

function foundBy({ variable, annotation, ports }: SidecarKind): string {
  const signs = [
    variable === undefined ? [] : `the variable ${code(variable)}`,
    annotation === undefined ? [] : `the annotation ${code(annotation)}`,
    ports.length === 0 ? [] : `port ${ports.join(", ")}`,
  ].flat();
  return signs.join("; ") || "nothing; you must name it";
}

function exitTable(): string {
  return table(["exit code", "meaning"], exitMeanings);
}

function isOwn({ name }: Metric): boolean {
  return /^ebb_(webhook|reaper)_/.test(name);
}

function metricList(all: readonly Metric[], isListed: (metric: Metric) => boolean): string {
  const items = all
    .filter(isListed)
    .map(
      ({ name, type, labels, help }) => `${code(name)} (${[type, ...[...labels].map(labelText)].join("; ")}): ${help}`,
    );
  return list(items);
}

/** What is said of labels whose values are not ebb's own, or are listed elsewhere. */
const openLabels: Readonly<Record<string, string>> = {
  code: "HTTP status",
  verb: "the request's verb, `connect` for exec and port-forward",
  version: "ebb's version",
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
