import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { type Loose, podIn, policy } from "../injection.ts";
import { imageSays } from "../registry.ts";
import { podIn as golden } from "./golden.ts";

const ofNamespace = { ...policy, all: true, ...imageSays({}) };
const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.1", args: ["proxy", "sidecar"] };
const native = { ...proxy, restartPolicy: "Always" };
const status = (of: object) => ({ "sidecar.istio.io/status": JSON.stringify(of) });
const KILL = "workflows.argoproj.io/kill-cmd-";

/** A pod in this folder with Istio's sidecar, as an ordinary container or a native one. */
function withIstio(file: string, isNative = false, annotations: object = {}): Loose {
  const { metadata, spec } = golden(file) as Loose;
  const said = status(isNative ? { initContainers: ["istio-proxy"] } : { containers: ["istio-proxy"] });
  return {
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...said, ...annotations } },
    spec: {
      ...spec,
      containers: isNative ? spec.containers : [...spec.containers, proxy],
      initContainers: [...(isNative ? [native] : []), ...(spec.initContainers ?? [])],
    },
  };
}

describe("Argo Workflows stops no sidecar that `wait` still needs", () => {
  const kills = (pod: Loose) =>
    Object.entries(pod.metadata.annotations).filter(([name]) => name.startsWith(KILL)) as readonly [string, string][];

  test.each(["argo-workflows", "argo-workflows-set", "kubeflow-pipelines"])("in %s", (file) => {
    const pod = withIstio(file);
    const changed = podIn(injectPod(pod, ofNamespace));
    expect(kills(changed)).toEqual([[`${KILL}istio-proxy`, '["true"]']]);
    expect(injectPod(changed, ofNamespace).kind).toBe("unchanged");
    const removed = removeFromPod(changed);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(pod));
  });

  test("also one that comes only later, as an annotation says", () => {
    const pod = golden("argo-workflows") as Loose;
    pod.metadata.annotations = { ...pod.metadata.annotations, ...status({ containers: ["istio-proxy"] }) };
    expect(kills(podIn(injectPod(pod, ofNamespace)))).toEqual([[`${KILL}istio-proxy`, '["true"]']]);
  });

  test.each<[string, Loose]>([
    ["where it is native, because Kubernetes stops it last", withIstio("argo-workflows", true)],
    ...[
      { "ebb.dev/quit-on": "never" },
      { "ebb.dev/quit-on.wait": "never" },
      { "ebb.dev/sidecar": "none" },
      { "ebb.dev/quit": "none" },
      { "ebb.dev/restart-policy": "Always" },
    ].map((said): [string, Loose] => [
      `where no ebb quits it at the end: ${JSON.stringify(said)}`,
      withIstio("argo-workflows", false, said),
    ]),
    ["where there is none", golden("argo-workflows")],
    ["where it is another orchestrator's pod", withIstio("tekton")],
  ])("but needs no word %s", (_, pod) => {
    expect(kills(podIn(injectPod(pod, ofNamespace)))).toEqual([]);
  });

  test.each([{ "ebb.dev/quit-on.main": "never" }, { "ebb.dev/quit": "none", "ebb.dev/signal-process": "pilot-agent" }])(
    "also where only `wait` quits it, or in another way: %j",
    (said) => {
      expect(kills(podIn(injectPod(withIstio("argo-workflows", false, said), ofNamespace)))).toHaveLength(1);
    },
  );

  test("as its user says, if that is something else", () => {
    const pod = withIstio("argo-workflows", false, { [`${KILL}istio-proxy`]: '["/stop"]' });
    const changed = podIn(injectPod(pod, ofNamespace));
    expect(kills(changed)).toEqual([[`${KILL}istio-proxy`, '["/stop"]']]);
    const removed = removeFromPod(changed);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(pod));
  });
});

describe("an init container that needs the mesh beside an ordinary sidecar is named", () => {
  const said = (pod: Loose) =>
    injectPod(pod, ofNamespace).warnings.filter(({ field }) => field.startsWith("spec.initContainers"));

  test.each<[string, readonly string[], string]>([
    ["argo-workflows", ["init"], "Argo Workflows"],
    ["kuberay-worker", ["wait-gcs-ready"], "KubeRay"],
    ["prow", ["clonerefs", "initupload"], "Prow"],
  ])("%s: %j", (file, inits, orchestrator) => {
    const messageOn = (init: string) =>
      `"${init}" of ${orchestrator} runs before "istio-proxy" starts: only a native sidecar serves it`;
    const field = expect.stringMatching(/^spec\.initContainers\[\d\]$/);
    expect(said(withIstio(file))).toEqual(inits.map((init) => ({ field, message: messageOn(init) })));
    expect(said(withIstio(file, true))).toEqual([]);
    expect(said(golden(file))).toEqual([]);
  });

  test.each(["argo-workflows-set", "kubeflow-pipelines", "tekton", "kuberay-head", "buildkite"])(
    "%s: none needs it",
    (file) => {
      expect(said(withIstio(file))).toEqual([]);
    },
  );
});

describe("the options of all containers", () => {
  const options = { "ebb.dev/grace": "9s", "ebb.dev/drain": "5s", "ebb.dev/quit-timeout": "7s" };
  const names = (pod: Loose, container: string) =>
    pod.spec.containers.find(({ name }: Loose) => name === container).env.map(({ name }: Loose) => name);

  test("are not a helper's, which has to end its work, but for those that are named for it", () => {
    const pod = withIstio("argo-workflows", false, options);
    const changed = podIn(injectPod(pod, { ...ofNamespace, options: new Map([["grace", "1s"]]) }));
    expect(names(changed, "main")).toEqual(expect.arrayContaining(["EBB_GRACE", "EBB_DRAIN", "EBB_QUIT_TIMEOUT"]));
    expect(names(changed, "wait")).not.toContain("EBB_GRACE");
    expect(names(changed, "wait")).not.toContain("EBB_DRAIN");
    expect(names(changed, "wait")).toContain("EBB_QUIT_TIMEOUT");
    const own = withIstio("argo-workflows", false, { "ebb.dev/grace.wait": "9s" });
    expect(names(podIn(injectPod(own, ofNamespace)), "wait")).toContain("EBB_GRACE");
  });
});

describe("what a pod's user says of a container wins", () => {
  test("a sidecar of its orchestrator is an app", () => {
    const pod = withIstio("airflow-operator", false, { "ebb.dev/apps": "airflow-xcom-sidecar" });
    expect(injectPod(pod, ofNamespace)).toMatchObject({ containers: ["base", "airflow-xcom-sidecar"] });
  });

  test("a helper is none", () => {
    const pod = withIstio("argo-workflows", false, { "ebb.dev/sidecars": "wait", "ebb.dev/native": "false" });
    expect(injectPod(pod, ofNamespace)).toMatchObject({ containers: ["main"] });
  });

  test.each([
    ["airflow-worker-git", "sync-dags"],
    ["spark-driver", "log-shipper"],
  ])("a container beside the app of %s, which nobody ends, becomes native: %s", (file, name) => {
    const pod = withIstio(file, false, { "ebb.dev/sidecars": name });
    const injection = injectPod(pod, ofNamespace);
    expect(injection.warnings.filter(({ message }) => message.includes("outlive"))).toEqual([]);
    expect(podIn(injection).spec.initContainers).toContainEqual(
      expect.objectContaining({ name, restartPolicy: "Always" }),
    );
  });

  test("a container that its orchestrator needs as it is keeps its command, and nobody quits under it", () => {
    const pod = withIstio("actions-runner-job", false, { "ebb.dev/apps": "redis" });
    const injection = injectPod(pod, ofNamespace);
    expect(injection).toMatchObject({ kind: "changed", containers: ["redis"] });
    const message =
      'ebb leaves "job" as it is: Actions Runner Controller needs it as it is; so no ebb in this pod shuts down the sidecars: unless they are native, only ebb reaper ends the pod';
    expect(injection.warnings.map((one) => one.message)).toContain(message);
    const redis = podIn(injection).spec.containers.find(({ name }: Loose) => name === "redis");
    expect(redis.env).toContainEqual({ name: "EBB_QUIT_ON", value: "never" });
  });

  test("alone, such a pod stays as it is", () => {
    const message = 'ebb leaves "job" as it is: Actions Runner Controller needs it as it is';
    expect(injectPod(golden("actions-runner-job"), ofNamespace)).toMatchObject({
      kind: "skipped",
      problems: [{ field: "spec.containers[0].command", message }],
    });
  });
});
