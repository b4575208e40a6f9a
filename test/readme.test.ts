import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pagePaths, withTables } from "../build/readme.ts";
import { commands } from "../src/commands.ts";
import { readCommandCall, readOperandCall } from "../src/core/cli/call.ts";
import { annotationMeanings } from "../src/core/inject/annotations.ts";
import { injectPod } from "../src/core/inject/patch.ts";
import type { InjectPolicy } from "../src/core/inject/policy.ts";
import { podsIn } from "../src/core/inject/workload.ts";
import { meansKinds } from "../src/core/reap/means.ts";

const policy: InjectPolicy = {
  image: "ebb",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test.each(pagePaths)("the tables of %s are those of the declarations (bun build/readme.ts writes them)", (page) => {
  const text = readFileSync(join(import.meta.dirname, "..", page), "utf8");
  expect(text).toBe(withTables(page, text));
});

test("a place for a table that is missing is named", () => {
  expect(() => withTables("README.md", "# ebb")).toThrow("README.md has no place for the table of options");
});

test.each(Object.keys(commands))("the README names ebb %s", (name) => {
  expect(readme).toContain(`ebb ${name}`);
});

test("the README names each field and each kind of finding of ebb status --json", () => {
  const section = readme.slice(readme.indexOf("`ebb status`"), readme.indexOf("\n## Commands"));
  const read = (file: string) => readFileSync(join(import.meta.dirname, "../src/core/status", file), "utf8");
  const fields = [...read("snapshot.ts").matchAll(/^ {2}readonly (\w+):/gm)].map(([, field]) => field);
  const kinds = [...read("findings.ts").matchAll(/kind: "([\w-]+)"/g)].map(([, kind]) => kind);
  expect([fields.length, kinds.length].every((count) => count > 10)).toBe(true);
  const missing = [...fields, ...kinds].filter((name) => !new RegExp(`[\`.]${name}[\`\\[.]`).test(section));
  expect(missing).toEqual([]);
});

test("the README names each metric of the webhook", () => {
  const source = readFileSync(join(import.meta.dirname, "../src/kube/webhook/metrics.ts"), "utf8");
  const names = [...source.matchAll(/"(ebb_\w+)"/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !new RegExp(`\`${name}[\`{]`).test(readme))).toEqual([]);
});

const manifests = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => Bun.YAML.parse(yaml));
const calls = manifests.flatMap(callsOf);

test("the README has manifests for each of its uses", () => {
  const kinds = manifests.map((manifest) => (manifest as { kind: string }).kind);
  expect([...new Set(kinds)].sort()).toEqual(["CronJob", "Deployment", "Job", "Pod"]);
  expect(calls).not.toEqual([]);
});

test.each(calls)("the command line in a manifest is one that ebb takes: %j", (path, name, ...args) => {
  const command = commands[name as string];
  expect(path).toEndWith("/ebb");
  expect(command).toBeDefined();
  const read = name === "run" ? readCommandCall : readOperandCall;
  expect(() => read(command?.options ?? {}, { args, env: {} })).not.toThrow();
});

test("a manifest with annotations of ebb is one that ebb changes without a word", () => {
  const asking = manifests.flatMap(podsIn).filter(({ pod }) => JSON.stringify(pod).includes('"ebb.dev/inject"'));
  expect(asking).not.toEqual([]);
  for (const { pod } of asking) expect(injectPod(pod, policy)).toMatchObject({ kind: "changed", warnings: [] });
});

test("each annotation of the README's table is one that ebb knows, and each that ebb knows is in it", () => {
  const named = annotationMeanings.map(([name]) => name.replace("OPTION", "drain").replace("CONTAINER", "app"));
  const value: Readonly<Record<string, string>> = {
    "ebb.dev/status": '{"containers":{}}',
    "ebb.dev/inject": "true",
    "ebb.dev/native": "envoy",
    "ebb.dev/sidecars": "istio-proxy",
  };
  for (const name of named) {
    const [, key = ""] = /^ebb\.dev\/([a-z]+)/.exec(name) ?? [];
    const text = value[name] ?? (key === "containers" ? "app" : key === "entrypoint" ? "/x" : "1s");
    const annotations = { "ebb.dev/inject": "true", [name]: text };
    const containers = [{ name: "app", ...(key === "entrypoint" ? {} : { command: ["/x"] }) }];
    expect(injectPod({ metadata: { annotations }, spec: { containers } }, policy)).toMatchObject({
      kind: "changed",
      warnings: [],
    });
  }
  const source = readFileSync(join(import.meta.dirname, "../src/core/inject/annotations.ts"), "utf8");
  const known = [...source.matchAll(/key === "(\w+)"/g)].map(([, key]) => `ebb.dev/${key}`);
  expect(known.length).toBeGreaterThan(2);
  for (const name of known) expect(named).toContain(name);
});

test("the README names each metric of the reaper, each of its means and each Event", () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, "../src", file), "utf8");
  const source = read("kube/reaper/reaper-metrics.ts");
  const gauges = [...source.matchAll(/"(ebb_reaper_\w+)"/g)].map(([, name = ""]) => name);
  const counters = [...source.matchAll(/counter\("(\w+)"/g)].map(([, name]) => `ebb_reaper_${name}`);
  const reasons = [...read("core/reap/report.ts").matchAll(/reason: "(\w+)"/g)].map(([, name = ""]) => name);
  const names = [...gauges, ...counters, ...reasons, ...meansKinds];
  expect([gauges.length, counters.length, reasons.length].every((count) => count > 2)).toBe(true);
  expect(names.filter((name) => !new RegExp(`\`${name}[\`{]`).test(readme))).toEqual([]);
});

/** Each list in a manifest that starts with ebb, in any folder, with the `args` beside it. */
function callsOf(node: unknown): string[][] {
  if (typeof node !== "object" || node === null) return [];
  const { command, args = [] } = node as { command?: unknown; args?: string[] };
  const own = Array.isArray(command) && command[0].endsWith("/ebb") ? [[...command, ...args]] : [];
  return [...own, ...Object.values(node).flatMap(callsOf)];
}
