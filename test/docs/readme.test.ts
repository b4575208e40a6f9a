import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { manualPaths } from "../../build/pages.ts";
import { pagePaths, withTables } from "../../build/readme.ts";
import type { Exposition } from "../../src/cluster/controller/process-metrics.ts";
import { injectPod } from "../../src/cluster/inject/core/inject-pod.ts";
import { ownNames } from "../../src/cluster/inject/core/pod-annotations.ts";
import type { InjectPolicy } from "../../src/cluster/inject/core/policy.ts";
import { methodKinds } from "../../src/cluster/reaper/core/methods.ts";
import { eventTypes } from "../../src/cluster/reaper/core/report.ts";
import { rightsNeeded } from "../../src/cluster/reaper/core/rights.ts";
import { createReaperMetrics } from "../../src/cluster/reaper/reaper-metrics.ts";
import { createMetrics } from "../../src/cluster/webhook/metrics.ts";
import { commands } from "../../src/commands.ts";
import { findingKinds, type Snapshot, type StatusFinding, type Zombie } from "../../src/pod/status/core/snapshot.ts";
import { readCommandCall, readOperandCall } from "../../src/shared/cli/core/call.ts";
import { options } from "../../src/shared/cli/core/options.ts";
import { changesIn } from "../harness/diffs.ts";
import { podsIn } from "../unit/cluster/inject/pods-in.ts";
import { appSocket, processes, snapshot } from "../unit/pod/status/core/snapshots.ts";

const policy: InjectPolicy = {
  image: "ebb",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

const root = join(import.meta.dirname, "../..");
const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const pages = ["README.md", ...manualPaths()];
/** The README and the manual. */
const all = pages.map(textOf).join("\n");

test.each(pagePaths)("the tables of %s are those of the declarations (bun build/readme.ts writes them)", (page) => {
  const text = textOf(page);
  expect(text).toBe(withTables(page, text));
});

test("a place for a table that is missing is named", () => {
  expect(() => withTables("README.md", "# ebb")).toThrow("README.md has no place for the table of terminal output");
});

test("each picture says what it shows", () => {
  const pictures = `${all}\n${textOf("test/EVIDENCE.md")}`
    .split("\n")
    .filter((line) => line.includes(".svg)") && line.startsWith("!["));
  expect(pictures.length).toBeGreaterThan(5);
  expect(pictures.filter((line) => !/^!\[[^\]]{80,}\]\(/.test(line))).toEqual([]);
});

test("the README is read in one sitting", () => {
  expect(textOf("README.md").split("\n").length).toBeLessThanOrEqual(180);
});

test.each([...pages, "test/EVIDENCE.md"])("each row of a table of %s is whole", (page) => {
  const rows = textOf(page)
    .split("\n")
    .filter((line) => line.startsWith("|"));
  expect(rows.filter((row) => !row.endsWith(" |"))).toEqual([]);
});

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, "")
      .replaceAll(" ", "-"),
  );

test.each([...pages, "src/README.md", ".github/CONTRIBUTING.md", "test/EVIDENCE.md"])(
  "each link of %s leads to something",
  (page) => {
    const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  },
);

test("each variable of another tool stands on the page of options, with the flag that it sets", () => {
  const [, section = ""] =
    /\n## Variables of other tools\n([\s\S]*?)(\n## |$)/.exec(textOf("src/manual/options.md")) ?? [];
  const items = section.split("\n").filter((line) => line.startsWith("- `"));
  const missing = Object.values(options).flatMap(({ flag, also }) =>
    also.filter(({ name }) => !items.some((item) => new RegExp(`\`${name}[\`=].*: .*\`--${flag}\\b`).test(item))),
  );
  expect(missing).toEqual([]);
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

test("the manual names each field and each kind of finding of ebb status --json", () => {
  const section = textOf("src/manual/status.md");
  const zombies: readonly Zombie[] = [{ pid: 8, name: "defunct", parent: 7 }];
  const findings: readonly StatusFinding[] = [{ kind: "zombies", message: "1 zombie" }];
  // numbers of connections are named by their states
  const sockets = { listening: [{ ...appSocket, connections: {} }], outgoing: {} };
  const whole: Snapshot = { ...snapshot, sockets, processes: { ...processes, zombies }, findings };
  expect(missingFrom(section, [...fieldsOf(whole), ...findingKinds])).toEqual([]);
});

/** Of what Prometheus reads: those of ebb's own. */
async function metricsOf({ text }: Exposition): Promise<readonly string[]> {
  return [...(await text()).matchAll(/^# TYPE (ebb_\w+) /gm)].map(([, name = ""]) => name);
}

test("the manual names each metric of the webhook", async () => {
  const names = await metricsOf(createMetrics("1", { inFlight: () => 0, connections: () => 0 }));
  expect(names.length).toBeGreaterThan(5);
  expect(missingFrom(all, names)).toEqual([]);
});

interface Manifest {
  readonly page: string;
  /** What it is, if it is an object of Kubernetes: `Job report`. */
  readonly id: string | undefined;
  readonly object: object;
}

const manifestsIn = (page: string): readonly Manifest[] =>
  [...textOf(page).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => {
    const object = Bun.YAML.parse(yaml) as { readonly kind?: string; readonly metadata?: { readonly name?: string } };
    const { kind, metadata } = object;
    return { page, id: metadata?.name === undefined ? undefined : `${kind} ${metadata.name}`, object };
  });

const ofReadme = manifestsIn("README.md");
const ofManual = pages.filter((page) => page !== "README.md").flatMap(manifestsIn);
const manifests = [...ofReadme, ...ofManual].map(({ object }) => object);
/** What the changes that the manual shows lead to: parts of manifests, and of Dockerfiles. */
const changed = changesIn(all).map(({ after }) => after);
const calls = [...manifests.flatMap(callsOf), ...changed.flatMap((text) => callsIn(text))];

test.each(["Job report"])("the README's %s stands in the manual too, and is the same there", (id) => {
  const objectsOf = (some: readonly Manifest[]) => some.filter((one) => one.id === id).map(({ object }) => object);
  expect(objectsOf(ofManual)).toContainEqual(objectsOf(ofReadme)[0] as object);
});

test.each([
  ["README", ofReadme],
  ["manual", ofManual],
])("no manifest stands twice in the %s", (_, each) => {
  const twice = each.flatMap((one, at) =>
    each
      .slice(at + 1)
      .filter(({ object }) => Bun.deepEquals(one.object, object))
      .map(({ page }) => [one.id, one.page, page]),
  );
  expect(twice).toEqual([]);
});

test("there are manifests for each of its uses", () => {
  const kinds = manifests.flatMap((manifest) => (manifest as { kind?: string }).kind ?? []); // a chart's values have none
  expect([...new Set(kinds)].sort()).toEqual([
    "ClusterPolicy",
    "ConfigMap",
    "CronJob",
    "Deployment",
    "Job",
    "MutatingPolicy",
    "Pod",
    "TaskRun",
    "ValidatingPolicy",
    "Values",
    "Workflow",
  ]);
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

test("each annotation of the manual is one that ebb knows, and each that ebb knows is in it", () => {
  const [, part = ""] = /\n## Put ebb into a pod\n([\s\S]*?)\n## /.exec(textOf("src/manual/annotations.md")) ?? [];
  const rows = [...part.matchAll(/^- `([^`]+)` \(such as/gm)].map(([, name = ""]) => name);
  const named = rows.map((name) => name.replace("OPTION", "drain").replace("CONTAINER", "app"));
  const value: Readonly<Record<string, string>> = {
    "ebb.dev/status": '{"containers":{}}',
    "ebb.dev/inject": "true",
    "ebb.dev/native": "envoy",
    "ebb.dev/apps": "app",
    "ebb.dev/sidecars": "istio-proxy",
  };
  for (const name of named) {
    const [, key = ""] = /^ebb\.dev\/([a-z]+)/.exec(name) ?? [];
    const text = value[name] ?? (key === "entrypoint" ? "/x" : "1s");
    const annotations = { "ebb.dev/inject": "true", [name]: text };
    const containers = [{ name: "app", ...(key === "entrypoint" ? {} : { command: ["/x"] }) }];
    expect(injectPod({ metadata: { annotations }, spec: { containers } }, policy)).toMatchObject({
      kind: "changed",
      warnings: [],
    });
  }
  for (const name of ownNames) expect(named).toContain(`ebb.dev/${name}`);
});

test("the manual names each metric of the reaper and each of its methods", async () => {
  const gauges = { records: new Map(), depth: () => 0, underWay: () => 0 };
  const metrics = await metricsOf(
    createReaperMetrics("1", { ...gauges, missingRights: () => 0, syncedAt: () => undefined }),
  );
  expect(metrics.length).toBeGreaterThan(8);
  expect(missingFrom(all, [...metrics, ...methodKinds])).toEqual([]);
});

test.each(methodKinds)("the manual has the verbs and the resource that the method %s needs", (method) => {
  const needed = rightsNeeded({ namespaces: [], methods: [method], onlyLooks: false });
  const own = needed.filter((right) => right.method === method);
  const row = textOf("src/manual/reaper.md").match(new RegExp(`^\\| \`${method}\` (?:in|there).* \\| (.*) \\|$`, "m"));
  expect(row?.[1]).toBe(`${own.map(({ verb }) => verb).join(", ")} \`${own[0]?.resource}\``);
});

test("the manual has the reason and type of each Event, and no others; each reason is a word as Kubernetes has it", () => {
  const rows = [...textOf("src/manual/reaper.md").matchAll(/^\| `(\w+)` \| (Normal|Warning) \|/gm)];
  const reasons = Object.entries(eventTypes);
  expect(rows.map(([, reason, type]) => [reason, type])).toEqual(reasons);
  for (const [reason] of reasons) expect(reason).toMatch(/^([A-Z][a-z]+)+$/);
});

/** Each command line with ebb in a part of a Dockerfile, or of a manifest. */
function callsIn(text: string): string[][] {
  const [, entrypoint] = /^ENTRYPOINT (.*)$/m.exec(text) ?? [];
  if (!/^[A-Z]+ /m.test(text)) return callsOf(Bun.YAML.parse(text));
  const [, args = "[]"] = /^CMD +(.*)$/m.exec(text) ?? [];
  return entrypoint === undefined ? [] : callsOf({ command: JSON.parse(entrypoint), args: JSON.parse(args) });
}

/** Each list in a manifest that starts with ebb, in any folder, with the `args` beside it. */
function callsOf(node: unknown): string[][] {
  if (typeof node !== "object" || node === null) return [];
  const { command, args = [] } = node as { command?: unknown; args?: string[] };
  const own = Array.isArray(command) && command[0].endsWith("/ebb") ? [[...command, ...args]] : [];
  return [...own, ...Object.values(node).flatMap(callsOf)];
}
