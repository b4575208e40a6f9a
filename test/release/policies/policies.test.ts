import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { injectPod } from "../../../src/cluster/inject/core/inject-pod.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { compiledProgram } from "../../sidecars/compile.ts";

// The policies of the manual's page `policies`, as they stand there, applied by Kyverno's own command line.

setDefaultTimeout(120_000);

const page = readFileSync(join(import.meta.dirname, "../../../src/manual/policies.md"), "utf8");
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
const blockOf = (kind: string) => blocks.find((text) => text.includes(`kind: ${kind}\n`)) ?? "";
const policies = {
  asking: blockOf("MutatingPolicy"),
  refusing: blockOf("ValidatingPolicy"),
  older: blockOf("ClusterPolicy"),
} as const;
type Policy = keyof typeof policies;

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
interface Template {
  readonly metadata?: Metadata;
  readonly spec: object;
}
type Kind = "Job" | "CronJob";

const plain = ["/report"];

function templateOf(metadata: Metadata | undefined, command: readonly string[]): Template {
  const containers = [{ name: "app", image: "registry.example.com/report", command }];
  return { ...(metadata === undefined ? {} : { metadata }), spec: { restartPolicy: "Never", containers } };
}

function objectOf(kind: Kind, template: Template, namespace: string): object {
  const head = { apiVersion: "batch/v1", kind, metadata: { name: "report", namespace } };
  const spec = { template };
  return { ...head, spec: kind === "Job" ? spec : { schedule: "0 4 * * *", jobTemplate: { spec } } };
}

/** The labels of namespaces: the page's own `shop`, and others. */
const values = parse(blockOf("Values")) as { namespaceSelector: object[] };
const namespaces = [
  ...values.namespaceSelector,
  { name: "outside", labels: { team: "bank" } },
  { name: "labelled", labels: { "istio-injection": "enabled", "ebb.dev/inject": "true" } },
  { name: "reaped", labels: { "istio-injection": "enabled", "ebb.dev/reap": "true" } },
];

interface Applied {
  /** What the policy's rules came to: `pass`, `fail`, `skip`; none if it does not match. */
  readonly results: readonly string[];
  readonly messages: readonly string[];
  /** The object as it is after the policy. */
  readonly object: { readonly spec: { readonly template: Template } } | undefined;
}

/** Applies a policy of the page to an object, as Kyverno does when the object is created. */
function apply(policy: Policy, object: object): Applied {
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  writeFileSync(at("policy.yaml"), policies[policy]);
  writeFileSync(at("object.yaml"), stringify(object));
  writeFileSync(at("values.yaml"), stringify({ ...values, namespaceSelector: namespaces }));
  const words = ["apply", at("policy.yaml"), "--resource", at("object.yaml"), "--values-file", at("values.yaml")];
  const run = (...more: readonly string[]) => {
    const { stdout, stderr } = Bun.spawnSync([compiledProgram("kyverno").path, ...words, ...more]);
    return `${stdout}${stderr}`;
  };
  console.log(run("--policy-report"), run("-o", at("out.yaml")));
  return { results: [], messages: [], object: undefined };
}

test("x", () => {
  for (const policy of ["asking", "refusing", "older"] as const)
    for (const kind of ["Job", "CronJob"] as const) apply(policy, objectOf(kind, templateOf(undefined, plain), "shop"));
});
