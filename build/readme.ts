import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exitMeanings } from "../src/core/exit.ts";
import { defaultOf, flagOf } from "../src/core/help.ts";
import { options } from "../src/core/options.ts";
import { annotationMeanings } from "../src/core/patch-annotations.ts";
import type { SidecarKind } from "../src/core/sidecars/kind.ts";
import { sidecarKinds } from "../src/core/sidecars/registry.ts";
import { differences, type Listed } from "../test/conformance/differences.ts";
import { type Wish, wishes } from "./inits.ts";

const path = join(import.meta.dirname, "..", "README.md");

/** The README with its tables made anew from the declarations; each stands between `<!-- NAME -->` and `<!-- /NAME -->`. */
export function withTables(readme: string): string {
  let text = readme;
  for (const [name, table] of Object.entries({
    options: optionTable(),
    sidecars: sidecarTable(),
    exits: exitTable(),
    annotations: annotationTable(),
    inits: initTable(),
    differences: differenceTable(),
  })) {
    const place = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!place.test(text)) throw new Error(`README.md has no place for the table of ${name}`);
    text = text.replace(place, (_, start, end) => `${start}${table}${end}`);
  }
  return text;
}

function optionTable(): string {
  const rows = Object.values(options).map((option) => {
    const [own, ...also] = option.variables.map(({ name }) => code(name));
    const initial = defaultOf(option);
    const repeatable = option.repeatable ? "; repeatable" : "";
    return [code(`${flagOf(option)}`), initial, [own, ...also].join(", "), `${option.help}${repeatable}`];
  });
  return table(["flag", "default", "variables", "what it does"], rows);
}

function sidecarTable(): string {
  const rows = Object.entries(sidecarKinds).map(([name, kind]: [string, SidecarKind]) => [
    code(name),
    readyOf(kind),
    quitOf(kind),
    foundBy(kind),
  ]);
  return table(["sidecar", "ready", "quit", "found by"], rows);
}

function readyOf({ ready, orReady = [] }: SidecarKind): string {
  if (ready === undefined) return "(not waited for)";
  return [ready, ...orReady].map((url) => code(url.startsWith("http") ? `GET ${url}` : url)).join(" or ");
}

function quitOf({ quit, quitPath, adminSocket }: SidecarKind): string {
  const own = code(`POST ${quit}`);
  return adminSocket === undefined ? own : `${own}, or ${code(`${quitPath}`)} at ${code(`unix:${adminSocket}`)}`;
}

function foundBy({ variable, annotation, ports }: SidecarKind): string {
  const names = [variable, annotation].filter((name) => name !== undefined).map(code);
  return [...names, ports.length === 0 ? [] : `port ${ports.join(", ")}`].flat().join("; ");
}

function exitTable(): string {
  return table(["exit code", "meaning"], exitMeanings);
}

function annotationTable(): string {
  const rows = annotationMeanings.map(([name, example, meaning]) => [code(name), code(example), meaning]);
  return table(["annotation", "value, such as", "what it means"], rows);
}

function differenceTable(): string {
  const rows = differences.map(({ rivals, theirs, ours, why }: Listed) => [namesOf(rivals), theirs, ours, why]);
  return table(["tool", "what it does", "what ebb does", "why"], rows);
}

/** Both scuttles are one, and where one alone is meant it is told by its owner. */
function namesOf(rivals: Listed["rivals"]): string {
  const isBoth = rivals.includes("scuttle") && rivals.includes("scuttle-redbox");
  const names = rivals.flatMap((rival) => {
    if (rival === "scuttle") return [isBoth ? "scuttle" : "scuttle (kvij)"];
    if (rival === "scuttle-redbox") return isBoth ? [] : ["scuttle (redboxllc)"];
    return [rival];
  });
  return names.join(", ");
}

function initTable(): string {
  const rows = Object.entries(wishes).map(([name, wish]: [string, Wish]) => [
    name,
    ...[wish.tini, wish["dumb-init"], wish.ebb].map(flagsOf),
  ]);
  return table(["", "tini", "dumb-init", "ebb"], rows);
}

function flagsOf(flags: readonly string[] | undefined): string {
  if (flags === undefined) return "no";
  return flags.length === 0 ? "always" : code(flags.join(" "));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("");
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) writeFileSync(path, withTables(readFileSync(path, "utf8")));
