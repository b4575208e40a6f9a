// bun build/arrows.ts checks what each file of src/ imports, and fails if it may not: src/README.md has the rules, and in
// its first block the order of the subjects.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const wings = ["pod", "cluster", "shared"];

/** Returns the folders of the wings in the order of the page: `pod/process`, `pod/http`, ... */
function readOrder(): readonly string[] {
  const [, map = ""] = readFileSync("src/README.md", "utf8").split("```");
  let wing = "";
  const order: string[] = [];
  for (const [, indent, name] of map.matchAll(/^( +)([a-z-]+)\/ /gm)) {
    if (indent?.length === 2) wing = name ?? "";
    else order.push(`${wing}/${name}`);
  }
  return order;
}

const order = readOrder();

/** Returns what is wrong if one file of src/ imports another, both as paths in src/, or a module by its name. */
function faultOf(file: string, imported: string): string | undefined {
  const isModule = !imported.endsWith(".ts");
  const [wing = "", subject = ""] = file.split("/");
  const [otherWing = ""] = imported.split("/");
  const isPure = wing === "compat" || isCore(file);
  if (isModule) return isPure && /^(node:|bun)/.test(imported) ? "core and compat import no effects" : undefined;
  if (wing === "commands" && otherWing === wing)
    return "commands never import each other: what two need moves to pod, cluster or shared";
  if (wings.includes(wing) && otherWing !== wing && otherWing !== "shared")
    return "pod and cluster import themselves and shared, shared only itself";
  if (wing === "compat" && otherWing !== wing && !(otherWing === "shared" && isCore(imported)))
    return "compat imports itself and the core of shared";
  if (wing !== "compat" && isPure && !isCore(imported)) return "core imports only core";
  if (otherWing === wing && rankOf(imported) > rankOf(file))
    return `${wing}/${subject} imports only the subjects before it in the list of src/README.md`;
  return undefined;
}

function isCore(file: string): boolean {
  return file.split("/").includes("core");
}

/** Returns the place of a file's subject in the order. A file in no folder of its wing comes before all. */
function rankOf(file: string): number {
  const [wing = "", subject = "", ...rest] = file.split("/");
  if (!wings.includes(wing) || rest.length === 0) return -1;
  const rank = order.indexOf(`${wing}/${subject}`);
  if (rank < 0) throw new Error(`src/${wing}/${subject}: expected it in the list of src/README.md`);
  return rank;
}

const importing = /\b(?:from |import |import\(|require\()"([^"]+)"/g;

let count = 0;
for (const file of [...new Bun.Glob("**/*.ts").scanSync("src")].toSorted()) {
  const text = readFileSync(join("src", file), "utf8");
  for (const { 1: name = "", index } of text.matchAll(importing)) {
    const imported = name.startsWith(".") ? join(dirname(file), name) : name;
    const fault = imported.startsWith("../") ? undefined : faultOf(file, imported);
    if (fault === undefined) continue;
    count += 1;
    console.error(`src/${file}:${text.slice(0, index).split("\n").length}: ${name}: ${fault}`);
  }
}
process.exitCode = count === 0 ? 0 : 1;
