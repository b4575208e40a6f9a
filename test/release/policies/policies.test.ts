import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { injectPod } from "../../../src/cluster/inject/core/inject-pod.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";

// The policies of the manual's page `policies`, as they stand there, applied by Kyverno's own command line.

const page = readFileSync(join(import.meta.dirname, "../../../src/manual/policies.md"), "utf8");
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => parse(text));
const blockOf = (kind: string) => blocks.find((block) => block.kind === kind);
const older = blockOf("ClusterPolicy");
/** The ClusterPolicy with only one of its rules. */
const ruleOf = (name: string) => {
  const rules = older.spec.rules.filter((rule: { readonly name: string }) => rule.name === name);
  return { ...older, spec: { ...older.spec, rules } };
};

const kyverno = compiledProgram("kyverno").path;
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Case {
  readonly kind: "Job" | "CronJob";
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  /** What the policies come to; `none`: it is not theirs. */
  readonly asked: Result;
  readonly refused: Result;
  /** Where the older policy comes to something else. */
  readonly older?: { readonly asked?: Result; readonly refused?: Result };
}
type Result = "pass" | "fail" | "skip" | "none";

/** A Job in the mesh that says nothing. */
const plain: Case = { kind: "Job", asked: "pass", refused: "fail" };
const ordinary = { "sidecar.istio.io/nativeSidecar": "false" };
const native = { "sidecar.istio.io/nativeSidecar": "true" };
const reaped = { "ebb.dev/reap": "true" };
const asks = { "ebb.dev/inject": "true" };
const declines = { "ebb.dev/inject": "false" };
const outside = { "sidecar.istio.io/inject": "false" };
const inside = { "sidecar.istio.io/inject": "true" };
const notSeen = { asked: "none", refused: "none" } as const;

const cases: Readonly<Record<string, Case>> = {
  plain,
  scheduled: { ...plain, kind: "CronJob", older: notSeen },
  "has-others": { ...plain, labels: { app: "x" }, annotations: { "example.com/owner": "shop" } },
  "is-ordinary": { ...plain, annotations: ordinary, labels: inside },
  asks: { ...plain, annotations: asks, asked: "skip", refused: "pass" },
  "scheduled-asks": { ...plain, kind: "CronJob", annotations: asks, asked: "skip", refused: "pass", older: notSeen },
  declines: { ...plain, annotations: declines, asked: "skip" },
  native: { ...plain, annotations: native, asked: "skip", refused: "pass" },
  "scheduled-native": {
    ...plain,
    kind: "CronJob",
    annotations: native,
    asked: "skip",
    refused: "pass",
    older: notSeen,
  },
  // a pattern of the older policy lets it through, which a condition does in the newer one
  "out-of-the-mesh": { ...plain, labels: outside, asked: "skip", refused: "skip", older: { refused: "pass" } },
  reaped: { ...plain, annotations: reaped, refused: "pass" },
  "not-reaped": { ...plain, annotations: { "ebb.dev/reap": "false" } },
  injected: { ...plain, annotations: { "ebb.dev/status": "{}" }, command: ["/ebb.dev/ebb", "run"], refused: "pass" },
  "has-ebb": { ...plain, command: ["/ebb", "run"], refused: "pass", older: { refused: "fail" } },
  "no-command": { ...plain, command: [] },
  "namespace-asks": { ...plain, namespace: "labelled", refused: "pass", older: { refused: "fail" } },
  "namespace-is-reaped": { ...plain, namespace: "reaped", refused: "pass", older: { refused: "fail" } },
  "declines-there": { ...plain, namespace: "labelled", annotations: declines, asked: "skip" },
  elsewhere: { ...plain, namespace: "bank", ...notSeen },
};
const names = Object.keys(cases);

const mesh = { "istio-injection": "enabled" };
const values = blockOf("Values");
writeFileSync(
  at("values.yaml"),
  stringify({
    ...values,
    namespaceSelector: [
      ...values.namespaceSelector,
      { name: "labelled", labels: { ...mesh, ...asks } },
      { name: "reaped", labels: { ...mesh, ...reaped } },
      { name: "bank", labels: { team: "bank" } },
    ],
  }),
);

function at(name: string): string {
  return join(folder.path, name);
}

/** The pod template of a case. */
function templateOf({ labels, annotations, command = ["/report"] }: Case): object {
  const containers = [{ name: "app", image: "registry.example.com/report", ...(command.length > 0 && { command }) }];
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return { ...(labels || annotations ? { metadata } : {}), spec: { restartPolicy: "Never", containers } };
}

function objectOf(name: string, template: object): object {
  const { kind, namespace = "shop" } = cases[name] as Case;
  const spec = { template };
  const ofKind = kind === "Job" ? spec : { schedule: "0 4 * * *", jobTemplate: { spec } };
  return { apiVersion: "batch/v1", kind, metadata: { name, namespace }, spec: ofKind };
}

interface Applied {
  /** What the policy came to, by the names of the cases. */
  readonly results: Readonly<Record<string, Result>>;
  readonly messages: readonly string[];
  /** The objects afterwards. */
  readonly objects: readonly Named[];
}
interface Named {
  readonly metadata: { readonly name: string };
}

/** Applies a policy to all cases, as if each was created. */
function apply(policy: object): Applied {
  writeFileSync(at("policy.yaml"), stringify(policy));
  const all = names.map((name) => stringify(objectOf(name, templateOf(cases[name] as Case))));
  writeFileSync(at("objects.yaml"), all.join("---\n"));
  const words = ["apply", at("policy.yaml"), "--resource", at("objects.yaml"), "--values-file", at("values.yaml")];
  const reported = run(...words, "--policy-report", "--output-format", "json");
  const report = JSON.parse(/^.*(\{"kind":"ClusterReport".*)$/m.exec(reported)?.[1] ?? "{}");
  const results: Record<string, Result> = Object.fromEntries(names.map((name) => [name, "none"]));
  for (const { resources, result } of report.results) {
    const [{ name }] = resources;
    if (results[name] !== "fail") results[name] = result; // one rule that refuses is enough
  }
  const failed = report.results.filter((one: { readonly result: Result }) => one.result === "fail");
  const messages = failed.map(({ message }: { readonly message: string }) => message);
  writeFileSync(at("after.yaml"), "");
  run(...words, "--output", at("after.yaml"));
  const documents = parseAllDocuments(readFileSync(at("after.yaml"), "utf8")).map((each) => each.toJS());
  return { results, messages, objects: documents.filter((each) => each !== null) };
}

function run(...words: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([kyverno, ...words]);
  if (exitCode > 1) throw new Error(`kyverno ${words.join(" ")}: exit code ${exitCode}\n${stdout}${stderr}`);
  return String(stdout);
}

type Kind = "asked" | "refused";
const expectedOf = (kind: Kind, isOlder: boolean) =>
  Object.fromEntries(
    names.map((name) => {
      const one = cases[name] as Case;
      return [name, (isOlder ? one.older?.[kind] : undefined) ?? one[kind]];
    }),
  );

describe.each([
  ["MutatingPolicy", blockOf("MutatingPolicy"), false],
  ["ClusterPolicy", ruleOf("ask-for-ebb"), true],
] as const)("the %s that asks for ebb", (_, policy, isOlder) => {
  const applied = apply(policy);

  test("asks where there is no reason against it", () => {
    expect(applied.results).toEqual(expectedOf("asked", isOlder));
  });

  test("adds its annotation, and nothing else, and ebb then changes the pod", () => {
    expect(applied.objects.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
    for (const object of applied.objects) {
      const { name } = object.metadata;
      const before = cases[name] as Case;
      const isAsked = applied.results[name] === "pass";
      const after = isAsked ? { ...before, annotations: { ...before.annotations, ...asks } } : before;
      expect(object as object).toEqual(objectOf(name, templateOf(after)));
      if (!isAsked || before.command !== undefined) continue;
      const injecting = {
        image: "ebb",
        all: false,
        volume: "emptyDir",
        options: new Map(),
        entrypoints: new Map(),
      } as const;
      expect(injectPod(templateOf(before) as never, injecting)).toMatchObject({ kind: "unchanged" });
      expect(injectPod(templateOf(after) as never, injecting)).toMatchObject({ kind: "changed" });
    }
  });
});

describe.each([
  ["ValidatingPolicy", blockOf("ValidatingPolicy"), false],
  ["ClusterPolicy", ruleOf("refuse-what-would-hang"), true],
] as const)("the %s that refuses", (_, policy, isOlder) => {
  const applied = apply(policy);

  test("refuses what would hang, and lets the others through", () => {
    expect(applied.results).toEqual(expectedOf("refused", isOlder));
  });

  test("says what to do", () => {
    expect(applied.messages).not.toEqual([]);
    for (const message of applied.messages) expect(message).toContain('annotate its pods with ebb.dev/inject: "true"');
  });
});

test("with both rules of the ClusterPolicy, only those are refused that have said no", () => {
  const refused = Object.entries(apply(older).results).filter(([, result]) => result === "fail");
  expect(refused.map(([name]) => name)).toEqual(["declines", "declines-there"]);
});
