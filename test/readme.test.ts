import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withTables } from "../build/readme.ts";
import { commands } from "../src/commands.ts";
import { readCommandCall, readOperandCall } from "../src/core/call.ts";

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test("the README's tables are those of the declarations (bun build/readme.ts writes them)", () => {
  expect(readme).toBe(withTables(readme));
});

test("a place for a table that is missing is named", () => {
  expect(() => withTables("# ebb")).toThrow("no place for the table of options");
});

test.each(Object.keys(commands))("the README names ebb %s", (name) => {
  expect(readme).toContain(`ebb ${name}`);
});

test("the README names each field and each kind of finding of ebb status --json", () => {
  const section = readme.slice(readme.indexOf("`ebb status`"), readme.indexOf("\n## Commands"));
  const read = (file: string) => readFileSync(join(import.meta.dirname, "../src/core", file), "utf8");
  const fields = [...read("snapshot.ts").matchAll(/^ {2}readonly (\w+):/gm)].map(([, field]) => field);
  const kinds = [...read("findings.ts").matchAll(/kind: "([\w-]+)"/g)].map(([, kind]) => kind);
  expect([fields.length, kinds.length].every((count) => count > 10)).toBe(true);
  const missing = [...fields, ...kinds].filter((name) => !new RegExp(`[\`.]${name}[\`\\[.]`).test(section));
  expect(missing).toEqual([]);
});

const manifests = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => Bun.YAML.parse(yaml));
const calls = manifests.flatMap(callsOf);

test("the README has manifests for each of its uses", () => {
  const kinds = manifests.map((manifest) => (manifest as { kind: string }).kind);
  expect([...new Set(kinds)].sort()).toEqual(["Deployment", "Job", "Pod"]);
  expect(calls).not.toEqual([]);
});

test.each(calls)("the command line in a manifest is one that ebb takes: %j", (path, name, ...args) => {
  const command = commands[name as string];
  expect(path).toEndWith("/ebb");
  expect(command).toBeDefined();
  const read = name === "run" ? readCommandCall : readOperandCall;
  expect(() => read(command?.options ?? {}, { args, env: {} })).not.toThrow();
});

/** Each list in a manifest that starts with ebb, in any folder, with the `args` beside it. */
function callsOf(node: unknown): string[][] {
  if (typeof node !== "object" || node === null) return [];
  const { command, args = [] } = node as { command?: unknown; args?: string[] };
  const own = Array.isArray(command) && command[0].endsWith("/ebb") ? [[...command, ...args]] : [];
  return [...own, ...Object.values(node).flatMap(callsOf)];
}
