import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { type Loose, podIn, policy } from "../injection.ts";
import { imageSays } from "../registry.ts";
import { podIn as golden } from "./golden.ts";

/** As the webhook changes the pods of a labelled namespace, with a registry that knows each image. */
const ofNamespace = { ...policy, all: true, ...imageSays({}) };

/** What becomes of a pod in this folder: which containers ebb starts, and what it warns of. */
const pods: Readonly<Record<string, readonly [started: readonly string[], warnings?: readonly RegExp[]]>> = {
  "actions-runner": [["runner"]],
  "actions-runner-job": [[]],
  "airflow-named": [["report"]],
  "airflow-operator": [["base"]],
  "airflow-worker": [["base"]],
  "airflow-worker-git": [["base"], [/"sync-dags" will outlive the app.*ebb\.dev\/sidecars: sync-dags makes it/]],
  "argo-workflows": [["wait", "main"]],
  "argo-workflows-set": [["wait", "extract", "main"]],
  buildkite: [["container-0", "agent", "checkout"]],
  drone: [[]],
  "gitlab-runner": [["build", "helper"]],
  "gitlab-runner-steps": [["build"]],
  jenkins: [["jnlp"]],
  "jenkins-injected": [["maven"]],
  katib: [[]],
  knative: [["user-container"]],
  "kubeflow-pipelines": [["wait", "main"]],
  "kuberay-head": [["ray-head", "ray-job-submitter"]],
  "kuberay-worker": [["ray-worker", "log-shipper"]],
  kubevirt: [[]],
  prow: [["test", "sidecar"]],
  "spark-driver": [["spark-kubernetes-driver"], [/"log-shipper" will outlive the app/]],
  "spark-executor": [["executor"], [/"metrics" will outlive the app/]],
  tekton: [["step-clone", "step-unnamed-1"]],
};

test("each pod in this folder is in the table", () => {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".yaml"));
  expect(files.map((file) => file.replace(".yaml", "")).sort()).toEqual(Object.keys(pods));
});

describe.each(Object.entries(pods))("in a labelled namespace, the pod %s", (file, [started, said = []]) => {
  const pod = golden(file);
  const injection = injectPod(pod, ofNamespace);

  test("has ebb in its apps, and in nothing else", () => {
    expect("containers" in injection ? injection.containers : []).toEqual([...started]);
    const env = ({ env = [] }: Loose, name: string) => env.find((one: Loose) => one.name === name)?.value;
    if (started.length === 0) return expect(injection.kind).toBe("skipped");
    const { spec } = podIn(injection);
    for (const [at, container] of spec.containers.entries()) {
      if (!started.includes(container.name)) {
        expect(container).toEqual((pod as Loose).spec.containers[at]);
        continue;
      }
      const others = started.filter((name) => name !== container.name);
      const isAlone = started.length === 1 || (spec.restartPolicy ?? "Always") === "Always";
      expect(env(container, "EBB_LAST_OF")).toBe(isAlone ? undefined : [container.name, ...others].join(","));
    }
  });

  test("is warned of only for what is so", () => {
    expect(injection.warnings.map(({ field, message }) => `${field}: ${message}`)).toEqual(
      said.map((one) => expect.stringMatching(one)),
    );
  });

  test("is not changed a second time, and is what it was once ebb goes", () => {
    if (started.length === 0) return;
    const changed = podIn(injection);
    expect(injectPod(changed, ofNamespace).kind).toBe("unchanged");
    const removed = removeFromPod(changed);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(pod));
  });
});
