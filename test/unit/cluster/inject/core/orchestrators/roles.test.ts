import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Role } from "../../../../../../src/cluster/inject/core/orchestrators/orchestrator.ts";
import {
  orchestratorOf,
  orchestrators,
  roleIn,
} from "../../../../../../src/cluster/inject/core/orchestrators/registry.ts";
import { checkPod, type Pod } from "../../../../../../src/cluster/inject/core/pod.ts";
import { podIn } from "./golden.ts";

/** The pods in this folder: which orchestrator made each, and what each of its containers is. */
const pods: Readonly<Record<string, readonly [name: string, roles: Readonly<Record<string, Role | undefined>>]>> = {
  "actions-runner": ["Actions Runner Controller", { runner: "app", dind: "sidecar" }],
  "actions-runner-job": ["Actions Runner Controller", { job: "untouchable", redis: "sidecar" }],
  "airflow-named": ["Airflow", { report: undefined, "airflow-xcom-sidecar": "sidecar" }],
  "airflow-operator": ["Airflow", { base: "app", "airflow-xcom-sidecar": "sidecar" }],
  "airflow-worker": ["Airflow", { base: "app" }],
  "airflow-worker-git": ["Airflow", { base: "app", "sync-dags": "sidecar" }],
  "argo-workflows": ["Argo Workflows", { wait: "helper", main: "app", cache: "sidecar" }],
  "argo-workflows-set": ["Argo Workflows", { wait: "helper", extract: "app", main: "app", cache: "sidecar" }],
  buildkite: ["Buildkite", { "container-0": "app", agent: "helper", checkout: "app", meter: "sidecar" }],
  drone: [
    "Drone",
    {
      "drone-a1b2c3d4e5f6g7h8i9j0": "untouchable",
      "drone-k1l2m3n4o5p6q7r8s9t0": "untouchable",
      "drone-u1v2w3x4y5z6a7b8c9d0": "untouchable",
      "drone-e1f2g3h4i5j6k7l8m9n0": "untouchable",
    },
  ],
  "gitlab-runner": ["GitLab Runner", { build: "app", helper: "helper", db: "sidecar", "svc-0": "sidecar" }],
  "gitlab-runner-steps": ["GitLab Runner", { build: "app", "svc-0": "sidecar" }],
  jenkins: ["Jenkins", { maven: "sidecar", db: "sidecar", jnlp: "app" }],
  "jenkins-injected": ["Jenkins", { maven: "app", kaniko: "sidecar" }],
  katib: ["Katib", { "training-container": "untouchable", "metrics-logger-and-collector": "untouchable" }],
  knative: ["Knative", { "user-container": "app", "queue-proxy": "sidecar" }],
  "kubeflow-pipelines": ["Kubeflow Pipelines", { wait: "helper", main: "app" }],
  "kuberay-head": ["KubeRay", { "ray-head": "app", "ray-job-submitter": "app", autoscaler: "sidecar" }],
  "kuberay-worker": ["KubeRay", { "ray-worker": "app", "log-shipper": undefined }],
  kubevirt: ["KubeVirt", { compute: "untouchable", volumeroot: "sidecar", "hook-sidecar-0": "sidecar" }],
  prow: ["Prow", { test: "app", sidecar: "helper" }],
  "spark-driver": ["Spark", { "spark-kubernetes-driver": "app", "log-shipper": "sidecar" }],
  "spark-executor": ["Spark", { executor: "app", metrics: "sidecar" }],
  tekton: [
    "Tekton",
    {
      "step-clone": "app",
      "step-unnamed-1": "app",
      "sidecar-docker": "sidecar",
      "sidecar-tekton-log-results": "sidecar",
    },
  ],
};

test("each pod in this folder is in the table, and each orchestrator has one", () => {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".yaml"));
  expect(files.map((file) => file.replace(".yaml", "")).sort()).toEqual(Object.keys(pods));
  const made = new Set(Object.values(pods).map(([name]) => name));
  expect(orchestrators.map(({ name }) => name).filter((name) => !made.has(name))).toEqual([]);
});

test.each(Object.entries(pods))("what the containers are in the pod %s", (file, [name, roles]) => {
  const pod = podIn(file);
  expect(checkPod(pod)).toEqual([]);
  expect(orchestratorOf(pod)?.name).toBe(name);
  expect(Object.fromEntries(pod.spec.containers.map((one) => [one.name, roleIn(pod, one)]))).toEqual(roles);
});

test.each(Object.keys(pods))("an injected sidecar in the pod %s is left to the rules for sidecars", (file) => {
  const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.1" };
  const pod = podIn(file);
  expect(roleIn({ ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, proxy] } }, proxy)).toBeUndefined();
});

test.each(Object.keys(pods))("ebb in the commands of the pod %s changes no role", (file) => {
  const pod = podIn(file);
  const wrapped = pod.spec.containers.map(({ command, ...rest }) => ({
    ...rest,
    ...(command == null ? {} : { command: ["/ebb.dev/ebb", "run", "--", ...command] }),
  }));
  const after = { ...pod, spec: { ...pod.spec, containers: wrapped } };
  expect(wrapped.map((one) => roleIn(after, one))).toEqual(pod.spec.containers.map((one) => roleIn(pod, one)));
});

test.each<[string, object]>([
  ["no metadata", {}],
  ["no labels", { metadata: {} }],
  ["labels that are null", { metadata: { labels: null } }],
  ["labels that are a list", { metadata: { labels: ["tekton.dev/taskRun"] } }],
  ["a label that is a number", { metadata: { labels: { "workflows.argoproj.io/workflow": 1 } } }],
  ["labels of another kind", { metadata: { labels: { app: "main", "spark-role": "none" } } }],
  ["the label of Katib's trials, but no collector", { metadata: { labels: { "katib.kubeflow.org/trial": "lr" } } }],
  ["the label of another part of KubeVirt", { metadata: { labels: { "kubevirt.io": "virt-handler" } } }],
])("a pod with %s is no orchestrator's", (_, rest) => {
  const main = { name: "main", command: ["/var/run/argo/argoexec", "emissary", "--", "app"] };
  expect(roleIn({ ...rest, spec: { containers: [main] } } as Pod, main)).toBeUndefined();
});

test("all containers of Argo's emissary count if the template is not in the pod", () => {
  const pod = podIn("argo-workflows");
  for (const { env } of pod.spec.initContainers ?? [])
    for (const variable of env ?? []) if (variable.name === "ARGO_TEMPLATE") variable.value = "offloaded";
  expect(pod.spec.containers.map((one) => roleIn(pod, one))).toEqual(["helper", "app", "app"]);
});

const root = join(import.meta.dirname, "../../../../../..");
const sources = join(root, "src/cluster/inject/core/orchestrators");
const modules = readdirSync(sources).filter((file) => !["orchestrator.ts", "registry.ts"].includes(file));

/** What a fact can be about. `init` is about the init containers that need the mesh. */
const aspects = ["pods", "app", "helper", "sidecar", "untouchable", "wrapping", "end", "mesh", "init"];

test.each(modules)("each fact in %s is read at a place of a version, and what was run has a test", async (file) => {
  const { facts } = (await import(join(sources, file))) as { readonly facts: string };
  const lines = facts.trim().split("\n");
  const about = lines.map((line) => line.split(" | ")[0]);
  expect(about).toEqual(aspects.filter((aspect) => about.includes(aspect)));
  for (const needed of ["pods", "app", "wrapping", "end", "mesh", "init"]) expect(about).toContain(needed);
  for (const line of lines) {
    expect(line).toMatch(/^\w+ \| read \S.* \S*\d\S* .+ \| \S.+$/);
    const [, by] = /; ran (\S+) \|/.exec(line) ?? [];
    if (by !== undefined) expect(existsSync(join(root, by))).toBe(true);
  }
});

test("each role in the table is told of in the facts of its orchestrator", async () => {
  expect(modules).toHaveLength(orchestrators.length);
  for (const [file, [, roles]] of Object.entries(pods)) {
    const module = modules.find((each) => file.startsWith(each.replace(".ts", "")));
    const { facts } = (await import(join(sources, module ?? file))) as { readonly facts: string };
    for (const role of Object.values(roles)) if (role !== undefined) expect(facts).toContain(`\n${role} | read `);
  }
});
