import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse, parseAllDocuments } from "yaml";
import { alertsPath } from "../../../build/monitoring/monitoring.ts";
import { chartFolder } from "../../chart-folder.ts";
import { ebb, temporaryFolder } from "../../harness.ts";
import { compiledProgram } from "../../sidecars/compile.ts";
import type { ProgramName } from "../../sidecars/programs.ts";
import { type Installed, installations } from "./installations.ts";

// For equal options, Helm makes of the chart what `ebb manifests` prints, but for Helm's own labels and tests.

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const chart = chartFolder(folder.path);
const image = { repository: "registry.example.com/ebb" };
const plain = { release: "ebb", namespace: "mesh", flags: [], components: [] };

describe.each(["helm", "helm-4"] as const)("%s", (name) => {
  test("lints the chart without a complaint", async () => {
    const { code, output } = await run(compiledProgram(name).path, "lint", "--strict", chart);
    expect({ code, warnings: output.match(/\[(WARNING|ERROR)\].*/g) }).toEqual({ code: 0, warnings: null });
  });

  test("makes of any values what ebb manifests prints for the same options", async () => {
    await fc.assert(
      fc.asyncProperty(installations, async (installed) => {
        const [helms, ours] = await Promise.all([rendered(name, installed), printed(installed)]);
        expect(helms).toEqual(ours);
      }),
      { numRuns: 100 },
    );
  }, 600_000);

  test.each<[string, object, string, string?]>([
    ["no image", {}, "image.repository: expected the image that has ebb as /ebb"],
    ["Secrets without registries", { image, webhook: { pullSecrets: true } }, "no registry is asked"],
    ["an unknown value", { webhook: { al: true } }, "al"],
    ["to install nothing", { image, webhook: { enabled: false } }, "nothing would be installed"],
    ["a release that begins with a digit", { image }, "fullnameOverride: no Service can be called 1-ebb", "1"],
    ["a release with a dot", { image }, "fullnameOverride: no Service can be called ebb.a", "ebb.a"],
    [
      "to monitor a CronJob",
      { image, podMonitor: true, webhook: { enabled: false }, reaper: { enabled: true, schedule: "@hourly" } },
      "podMonitor, prometheusRule: a CronJob (reaper.schedule) has no metrics",
    ],
  ])("refuses %s", async (_, values, message, release = "ebb") => {
    const { code, output } = await template(name, { ...plain, release, values });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(message) });
  });

  test.each([
    ["webhook", { pullSecrets: true, failurePolicy: "Fail" }],
    ["reaper", { qps: 20, dryRun: true }],
  ])("ignores the options of the %s if it is switched off", async (off, options) => {
    const enabled = { webhook: { enabled: off !== "webhook" }, reaper: { enabled: off !== "reaper" } };
    const values = { image, ...enabled, [off]: { ...options, enabled: false } };
    const objects = await rendered(name, { ...plain, values });
    expect(objects).toEqual(await rendered(name, { ...plain, values: { image, ...enabled } }));
  });

  test.each(["webhook", "reaper"])("has no key twice in the pods of the %s", async (component) => {
    const podLabels = { "app.kubernetes.io/component": "mine", team: "a" };
    const podAnnotations = { "ebb.dev/inject": "true", team: "a" };
    const nodeSelector = { "kubernetes.io/os": "other", team: "a" };
    const own = { enabled: true, podLabels, podAnnotations, nodeSelector };
    const objects = await rendered(name, { ...plain, values: { image, [component]: own } });
    const { metadata, spec } = objects[`Deployment mesh ebb-${component}`].spec.template;
    expect(metadata.labels).toMatchObject({ "app.kubernetes.io/component": component, team: "a" });
    expect(metadata.annotations).toEqual({ "ebb.dev/inject": "false", team: "a" });
    expect(spec.nodeSelector).toEqual(nodeSelector);
  });

  test.each<[string, object, readonly string[]]>([
    ["both components", { reaper: { enabled: true } }, ["ebb-webhook", "ebb-reaper"]],
    ["the webhook", {}, ["ebb-webhook"]],
    ["a webhook and a CronJob", { reaper: { enabled: true, schedule: "@hourly" } }, ["ebb-webhook"]],
  ])("makes a PrometheusRule of the alerts about %s", async (_, values, names) => {
    const objects = await rendered(name, { ...plain, values: { image, prometheusRule: true, ...values } });
    const { groups } = parse(readFileSync(alertsPath, "utf8"));
    expect(objects["PrometheusRule mesh ebb"].spec).toEqual({
      groups: groups.filter((group: { name: string }) => names.includes(group.name)),
    });
  });
});

// Helm 3 asks a cluster for them
test("Helm 4 says after an installation what the values make of it", async () => {
  const label = (names: string) => `kubectl label namespace ${names} ebb.dev/reap=true`;
  const notes = async (values: object) =>
    (await withValues("helm-4", ["install", "--dry-run=client"], { ...plain, values: { image, ...values } })).output;
  const usual = await notes({ reaper: { enabled: true } });
  expect(usual).toContain(`Stuck pods are ended after:              ${label("NAME")}`);
  const reaper = { enabled: true, dryRun: true, reapNamespace: ["shop", "bank"] };
  const other = await notes({ reaper, selector: [{ key: "app", operator: "Exists" }] });
  expect(other).toContain(`Stuck pods are logged after:             ${label("shop bank")}`);
  expect([usual, other].map((text) => text.includes("are left alone"))).toEqual([false, true]);
});

async function rendered(name: ProgramName, installed: Installed) {
  const { code, output } = await template(name, installed);
  if (code !== 0) throw new Error(`helm template: ${output}`);
  const own = ["helm.sh/chart", "app.kubernetes.io/managed-by"];
  const objects = objectsOf(output).filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"] === undefined);
  for (const { metadata } of objects) for (const label of own) delete metadata.labels[label];
  return byName(objects);
}

function template(name: ProgramName, installed: Installed) {
  return withValues(name, ["template", "--kube-version", "1.36.3"], installed);
}

/** Runs `helm VERB RELEASE CHART` with values. */
async function withValues(name: ProgramName, words: readonly string[], { release, namespace, values }: Installed) {
  using scratch = temporaryFolder();
  const file = join(scratch.path, "values.json");
  await Bun.write(file, JSON.stringify(values));
  const [verb = "", ...flags] = [...words, "--namespace", namespace, "--values", file];
  return await run(compiledProgram(name).path, verb, release, chart, ...flags);
}

async function printed({ namespace, flags, components }: Installed) {
  const { code, stdout, stderr } = await ebb(["manifests", `--namespace=${namespace}`, ...flags, ...components]);
  if (code !== 0) throw new Error(`ebb manifests ${flags.join(" ")}: ${stderr}`);
  return byName(objectsOf(stdout));
}

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read deeply
type Any = any;

function objectsOf(text: string): Any[] {
  return parseAllDocuments(text, { version: "1.1" })
    .map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    })
    .filter((object) => object !== null);
}

function byName(objects: readonly Any[]): Readonly<Record<string, Any>> {
  const named = objects.map((each) => [`${each.kind} ${each.metadata.namespace} ${each.metadata.name}`, each] as const);
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
  return Object.fromEntries(named);
}

/** Runs a program. Resolves with its exit code and with what it wrote to stdout, or to stderr if it failed. */
async function run(...command: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: code === 0 ? stdout : stderr };
}
