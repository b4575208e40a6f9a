import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { injectPod } from "../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../src/cluster/inject/core/policy.ts";
import { type Loose, policy } from "../unit/cluster/inject/core/injection.ts";
import { podIn as golden, istioStatus, withIstio } from "../unit/cluster/inject/core/orchestrators/golden.ts";
import { imageSays } from "../unit/cluster/inject/core/registry.ts";
import { podsIn } from "../unit/cluster/inject/pods-in.ts";

// What each recipe of the manual tells to paste makes the pod that its orchestrator or injector makes of it one that
// works: ebb starts the right containers, sees each sidecar, and warns of nothing.

const page = readFileSync(join(import.meta.dirname, "../../src/manual/recipes.md"), "utf8");
const sections = new Map(page.split("\n## ").map((text) => [text.slice(0, text.indexOf("\n")), text]));

/** Returns the blocks of code of a recipe in a language. @throws Error if it has none */
function blocksOf(recipe: string, language: string): readonly string[] {
  const pattern = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g");
  const blocks = [...(sections.get(recipe) ?? "").matchAll(pattern)].map(([, text = ""]) => text);
  if (blocks.length === 0) throw new Error(`${recipe} has no ${language}`);
  return blocks;
}

const yamlOf = (recipe: string): readonly Loose[] => blocksOf(recipe, "yaml").map((text) => Bun.YAML.parse(text));

/** Returns the annotations that a block of Python sets. */
function inPython(text: string): object {
  const [, annotations = ""] = /annotations=(\{.*\})/.exec(text) ?? [];
  return JSON.parse(annotations);
}

const [gitLab, controller, taskRun] = [
  Bun.TOML.parse(blocksOf("GitLab Runner", "toml")[0] ?? "") as Loose,
  yamlOf("Actions Runner Controller")[0],
  yamlOf("Tekton")[0],
];
const [workflow, configMap] = yamlOf("Argo Workflows");
const ofAirflow = [inPython(blocksOf("Airflow", "python")[0] ?? ""), yamlOf("Airflow")[0].workers.podAnnotations];
const ofArgo = [workflow.spec, Bun.YAML.parse(configMap.data.workflowDefaults as string) as Loose].map((one) => {
  const spec = one.spec ?? one;
  return spec.podMetadata.annotations as object;
});

/** As the webhook changes a pod that only the recipe's annotations select, with a registry that knows each image. */
const asked: InjectPolicy = { ...policy, ...imageSays({}) };

const recipes: readonly (readonly [recipe: string, pod: string, annotations: object, started: readonly string[]])[] = [
  ["GitLab Runner", "gitlab-runner", gitLab.runners[0].kubernetes.pod_annotations, ["build", "helper"]],
  ["GitLab Runner", "gitlab-runner-steps", gitLab.runners[0].kubernetes.pod_annotations, ["build"]],
  ["Actions Runner Controller", "actions-runner", controller.template.metadata.annotations, ["runner"]],
  ["Tekton", "tekton", taskRun.metadata.annotations, ["step-clone", "step-unnamed-1"]],
  ["Airflow's operator", "airflow-operator", ofAirflow[0] ?? {}, ["base"]],
  ["Airflow's executor", "airflow-worker", ofAirflow[1], ["base"]],
  ["Argo's workflow", "argo-workflows", ofArgo[0] ?? {}, ["wait", "main"]],
  ["Argo's default", "argo-workflows-set", ofArgo[1] ?? {}, ["wait", "extract", "main"]],
];

/** Returns a pod of an orchestrator whose template has no input artifacts, as in the recipe. */
function withoutInputs(pod: Loose): Loose {
  const text = JSON.stringify(pod).replaceAll(/\\"inputs\\":\{\\"artifacts\\":\[.*?\]\}/g, '\\"inputs\\":{}');
  return JSON.parse(text);
}

describe.each([false, true])("next to Istio's sidecar, native: %p,", (isNative) => {
  test.each(recipes)(
    "%s: in the pod %s, ebb starts the apps, and warns of nothing",
    (_, file, annotations, started) => {
      const pod = withoutInputs(withIstio(file, isNative, annotations));
      expect(injectPod(pod, asked)).toMatchObject({ kind: "changed", containers: started, warnings: [] });
    },
  );
});

test.each(recipes)("%s: without what it pastes, the pod %s stays as it is", (_, file) => {
  expect(injectPod(golden(file), asked).kind).not.toBe("changed");
});

test("GitLab Runner: what stands in for ebb next to Istio's proxy", () => {
  const { runners } = Bun.TOML.parse(blocksOf("GitLab Runner", "toml")[1] ?? "") as Loose;
  const annotations = runners.kubernetes.pod_annotations;
  expect(annotations["sidecar.istio.io/nativeSidecar"]).toBe("true");
  expect(Bun.YAML.parse(annotations["proxy.istio.io/config"])).toEqual({ holdApplicationUntilProxyStarts: true });
});

describe("Argo Workflows", () => {
  const [annotations = {}] = ofArgo;

  test("the annotation that the recipe names is the one that ebb adds", () => {
    const [, name = "", value = ""] = /(workflows\.argoproj\.io\/kill-cmd-[\w-]+): '(.*?)'/.exec(page) ?? [];
    const injection = injectPod(withIstio("argo-workflows-set", false, annotations), asked);
    expect("pod" in injection && injection.pod.metadata?.annotations).toMatchObject({ [name]: value });
  });

  test("a template with input artifacts needs the native sidecar, as the recipe says", () => {
    const ordinary = injectPod(withIstio("argo-workflows", false, annotations), asked);
    expect(ordinary.warnings.map(({ message }) => message)).toEqual([expect.stringMatching(/only a native sidecar/)]);
    expect(injectPod(withIstio("argo-workflows", true, annotations), asked).warnings).toEqual([]);
  });
});

test("Actions Runner Controller: ebb leaves the pod of a job in mode kubernetes as it is, with a reason", () => {
  const pod = withIstio("actions-runner-job", false, {});
  expect(injectPod(pod, { ...asked, all: true })).toMatchObject({ kind: "skipped", problems: [{}] });
});

test("Airflow: a container beside `base` becomes native, so that it ends, once `ebb.dev/sidecars` names it", () => {
  const annotations = { ...ofAirflow[1], "ebb.dev/sidecars": "sync-dags" };
  const injection = injectPod(withIstio("airflow-worker-git", false, annotations), asked);
  const native = expect.objectContaining({ name: "sync-dags", restartPolicy: "Always" });
  expect("pod" in injection && injection.pod.spec.initContainers).toContainEqual(native);
  expect(injection.warnings.map(({ message }) => message)).not.toContainEqual(expect.stringContaining("outlive"));
});

const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.1", args: ["proxy", "sidecar"] };
const agent = {
  name: "vault-agent",
  image: "hashicorp/vault:1.20.0",
  command: ["/bin/sh", "-ec"],
  args: ["vault agent"],
};

/** Returns the pod of a recipe's manifest, after Istio's injector and others. */
function podOf(recipe: string, { said = {}, more = [] as readonly object[] } = {}): Loose {
  const pod = writtenPod(recipe);
  const annotations = { ...pod.metadata.annotations, ...istioStatus({ containers: ["istio-proxy"] }), ...said };
  const containers = [...pod.spec.containers, ...more, proxy];
  return { metadata: { ...pod.metadata, annotations }, spec: { ...pod.spec, containers } };
}

/** Returns the pod of a recipe's manifest as it stands there. */
function writtenPod(recipe: string, at = 0): Loose {
  const [{ pod } = {}] = podsIn(yamlOf(recipe)[at]) as readonly { pod?: Loose }[];
  return pod;
}

function without({ metadata, spec }: Loose, annotation: string): Loose {
  const { [annotation]: _, ...annotations } = metadata.annotations;
  return { metadata: { ...metadata, annotations }, spec };
}

/** Returns the changed pod, with the variables of each container by their names. @throws Error if it was not changed */
function changed(pod: Loose): { readonly env: Loose; readonly container: (name: string) => Loose } {
  const injection = injectPod(pod, policy);
  expect(injection).toMatchObject({ kind: "changed", warnings: [] });
  const { containers } = ("pod" in injection ? injection.pod.spec : { containers: [] }) as Loose;
  const env = containers[0].env.map(({ name, value }: Loose) => [name, value]);
  return { env: Object.fromEntries(env), container: (name) => containers.find((one: Loose) => one.name === name) };
}

const messages = (pod: Loose) => injectPod(pod, policy).warnings.map(({ message }) => message);

describe("Vault and Istio", () => {
  const said = { "vault.hashicorp.com/agent-inject-status": "injected" };
  const pod = podOf("Vault and Istio", { said, more: [agent] });

  test("the app waits for the secret's file, and both sidecars can be ended", () => {
    expect(changed(pod).env).toMatchObject({ EBB_READY: "file:/vault/secrets/db?nonempty" });
  });

  test("each of its annotations of ebb and of the agent's end is needed", () => {
    expect(messages(without(pod, "ebb.dev/ready"))).toEqual([
      expect.stringContaining("set ebb.dev/ready: file:/vault/secrets/db?nonempty"),
    ]);
    expect(messages(without(pod, "vault.hashicorp.com/agent-enable-quit"))).toEqual([
      expect.stringContaining("agent-enable-quit"),
    ]);
  });

  test("a server needs no agent-enable-quit, and keeps Istio's proxy but not the agent", () => {
    const { metadata, spec } = without(pod, "vault.hashicorp.com/agent-enable-quit");
    const { env, container } = changed({ metadata, spec: { ...spec, restartPolicy: "Always" } });
    expect(env).toMatchObject({ EBB_READY: "file:/vault/secrets/db?nonempty", EBB_DRAIN: "24s" });
    expect(container("istio-proxy").lifecycle.preStop.exec.command).toContain("hold");
    expect(container("vault-agent").lifecycle).toBeUndefined();
  });
});

describe("Cloud SQL without a mesh", () => {
  test("the native proxy listens where its probe asks, and the pod does not ask for ebb", () => {
    const pod = writtenPod("Cloud SQL without a mesh");
    const [sidecar] = pod.spec.initContainers;
    expect(sidecar.restartPolicy).toBe("Always");
    expect(sidecar.args).toEqual(expect.arrayContaining(["--health-check", "--http-address=0.0.0.0"]));
    expect(sidecar.startupProbe.httpGet).toEqual({ path: "/startup", port: 9090 }); // as cloud-sql-proxy --help has it
    expect(injectPod(pod, policy).kind).toBe("unchanged");
  });

  test("ebb names the ordinary proxy to the app", () => {
    expect(changed(writtenPod("Cloud SQL without a mesh", 1)).env).toMatchObject({
      EBB_SIDECAR: "auto,cloud-sql-proxy",
    });
  });
});

describe("Cloud SQL and Istio", () => {
  const pod = podOf("Cloud SQL and Istio");

  test("ebb names both proxies to the app", () => {
    const { env, container } = changed(pod);
    expect(env).toMatchObject({ EBB_SIDECAR: "auto,cloud-sql-proxy" });
    expect(container("cloud-sql-proxy").lifecycle.preStop.exec.command).toContain("hold");
    expect(container("istio-proxy").lifecycle.preStop.exec.command).toContain("hold");
  });

  test("--quitquitquit is needed", () => {
    const containers = pod.spec.containers.map(({ args, ...rest }: Loose) => ({
      ...rest,
      args: args?.filter((one: string) => one !== "--quitquitquit"),
    }));
    expect(messages({ ...pod, spec: { ...pod.spec, containers } })).toEqual([
      expect.stringContaining("--quitquitquit"),
    ]);
  });
});

test("Kafka or Celery workers: no drain, the whole grace, and a proxy that stays", () => {
  const { env, container } = changed(podOf("Kafka or Celery workers"));
  expect(env).toMatchObject({ EBB_DRAIN: "0", EBB_GRACE: "110s", EBB_POD_GRACE: "120s" });
  expect(container("istio-proxy").lifecycle.preStop.exec.command).toContain("hold");
});

test("each recipe is in the table of the page, and in these tests", () => {
  const titles = [...sections.keys()].slice(1);
  const [table = ""] = [...sections.values()];
  expect([...table.matchAll(/^\| \[([^\]]+)\]/gm)].map(([, title]) => title)).toEqual(titles);
  const own = readFileSync(import.meta.path, "utf8");
  expect(titles.filter((title) => !own.includes(title))).toEqual([]);
});
