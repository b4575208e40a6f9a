import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pagePaths, withTables } from "../build/readme.ts";
import { commands } from "../src/commands.ts";
import { readCommandCall, readOperandCall } from "../src/core/cli/call.ts";
import { annotationMeanings, ownNames } from "../src/core/inject/annotations.ts";
import { injectPod } from "../src/core/inject/patch.ts";
import type { InjectPolicy } from "../src/core/inject/policy.ts";
import { podsIn } from "../src/core/inject/workload.ts";
import { meansKinds } from "../src/core/reap/means.ts";
import { eventReasons } from "../src/core/reap/report.ts";
import { type Finding, findingKinds, type Snapshot, type Zombie } from "../src/core/status/snapshot.ts";
import type { Exposition } from "../src/kube/controller/process-metrics.ts";
import { createReaperMetrics } from "../src/kube/reaper/reaper-metrics.ts";
import { createMetrics } from "../src/kube/webhook/metrics.ts";
import { appSocket, processes, snapshot } from "./core/status/snapshots.ts";

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

/** What the README writes as code. */
function missingFrom(text: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => !new RegExp(`[\`.]${name}[\`[.{]`).test(text));
}

/** The names of all fields of an object, and of those in it. */
function fieldsOf(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(fieldsOf);
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [name, ...fieldsOf(value)]);
}

test("the README names each field and each kind of finding of ebb status --json", () => {
  const section = readme.slice(readme.indexOf("`ebb status`"), readme.indexOf("\n## Commands"));
  const zombies: readonly Zombie[] = [{ pid: 8, name: "defunct", parent: 7 }];
  const findings: readonly Finding[] = [{ kind: "zombies", message: "1 zombie" }];
  // numbers of connections are named by their states
  const sockets = { listening: [{ ...appSocket, connections: {} }], outgoing: {} };
  const whole: Snapshot = { ...snapshot, sockets, processes: { ...processes, zombies }, findings };
  expect(missingFrom(section, [...fieldsOf(whole), ...findingKinds])).toEqual([]);
});

/** Of what Prometheus reads: those of ebb's own. */
async function metricsOf({ text }: Exposition): Promise<readonly string[]> {
  return [...(await text()).matchAll(/^# TYPE (ebb_\w+) /gm)].map(([, name = ""]) => name);
}

test("the README names each metric of the webhook", async () => {
  const names = await metricsOf(createMetrics("1", { inFlight: () => 0, connections: () => 0 }));
  expect(names.length).toBeGreaterThan(5);
  expect(missingFrom(readme, names)).toEqual([]);
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
  for (const name of ownNames) expect(named).toContain(`ebb.dev/${name}`);
});

test("the README names each metric of the reaper, each of its means and each Event", async () => {
  const gauges = { leads: () => true, isCircuitOpen: () => false, depth: () => 0, underWay: () => 0 };
  const all = { ...gauges, missingRights: () => 0, syncedAt: () => undefined };
  const metrics = await metricsOf(createReaperMetrics("1", all));
  expect(metrics.length).toBeGreaterThan(8);
  expect(missingFrom(readme, [...metrics, ...eventReasons, ...meansKinds])).toEqual([]);
});

/** Each list in a manifest that starts with ebb, in any folder, with the `args` beside it. */
function callsOf(node: unknown): string[][] {
  if (typeof node !== "object" || node === null) return [];
  const { command, args = [] } = node as { command?: unknown; args?: string[] };
  const own = Array.isArray(command) && command[0].endsWith("/ebb") ? [[...command, ...args]] : [];
  return [...own, ...Object.values(node).flatMap(callsOf)];
}
