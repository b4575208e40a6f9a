import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { type Loose, podIn, policy } from "../injection.ts";
import { podIn as golden, istioStatus, withIstio } from "../orchestrators/golden.ts";
import { imageSays } from "../registry.ts";

const ofNamespace = { ...policy, all: true, ...imageSays({}) };
const KILL = "workflows.argoproj.io/kill-cmd-";

describe("an annotation keeps Argo Workflows from stopping a sidecar that `wait` still needs", () => {
  const kills = (pod: Loose) =>
    Object.entries(pod.metadata.annotations).filter(([name]) => name.startsWith(KILL)) as readonly [string, string][];

  test.each(["argo-workflows", "argo-workflows-set", "kubeflow-pipelines"])("in the pod %s", (file) => {
    const pod = withIstio(file);
    const changed = podIn(injectPod(pod, ofNamespace));
    expect(kills(changed)).toEqual([[`${KILL}istio-proxy`, '["true"]']]);
    expect(injectPod(changed, ofNamespace).kind).toBe("unchanged");
    const removed = removeFromPod(changed);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(pod));
  });

  test("that comes only later, as an annotation says", () => {
    const pod = golden("argo-workflows") as Loose;
    pod.metadata.annotations = { ...pod.metadata.annotations, ...istioStatus({ containers: ["istio-proxy"] }) };
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
  ])("but is not added %s", (_, pod) => {
    expect(kills(podIn(injectPod(pod, ofNamespace)))).toEqual([]);
  });

  test.each([{ "ebb.dev/quit-on.main": "never" }, { "ebb.dev/quit": "none", "ebb.dev/signal-process": "pilot-agent" }])(
    "also where only `wait` quits it, or ebb by a signal: %j",
    (said) => {
      expect(kills(podIn(injectPod(withIstio("argo-workflows", false, said), ofNamespace)))).toHaveLength(1);
    },
  );

  test("and that the user has set to something else stays so", () => {
    const pod = withIstio("argo-workflows", false, { [`${KILL}istio-proxy`]: '["/stop"]' });
    const changed = podIn(injectPod(pod, ofNamespace));
    expect(kills(changed)).toEqual([[`${KILL}istio-proxy`, '["/stop"]']]);
    const removed = removeFromPod(changed);
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(pod));
  });
});

describe("an init container that needs the mesh, beside an ordinary sidecar, is warned of", () => {
  const said = (pod: Loose) =>
    injectPod(pod, ofNamespace).warnings.filter(({ field }) => field.startsWith("spec.initContainers"));

  test.each<[string, readonly string[], string]>([
    ["argo-workflows", ["init"], "Argo Workflows"],
    ["kuberay-worker", ["wait-gcs-ready"], "KubeRay"],
    ["prow", ["clonerefs", "initupload"], "Prow"],
  ])("in the pod %s: %j", (file, inits, orchestrator) => {
    const messageOn = (init: string) =>
      `"${init}" of ${orchestrator} runs before "istio-proxy" starts: only a native sidecar serves it`;
    const field = expect.stringMatching(/^spec\.initContainers\[\d\]$/);
    expect(said(withIstio(file))).toEqual(inits.map((init) => ({ field, message: messageOn(init) })));
    expect(said(withIstio(file, true))).toEqual([]);
    expect(said(golden(file))).toEqual([]);
  });

  test.each(["argo-workflows-set", "kubeflow-pipelines", "tekton", "kuberay-head", "buildkite"])(
    "but in the pod %s none needs it",
    (file) => {
      expect(said(withIstio(file))).toEqual([]);
    },
  );
});
