import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { again } from "../injected-pods.ts";
import { app, changed, type Given, type Loose, podOf, policy, warnings } from "../injection.ts";

const exec = (...command: readonly string[]) => ({ exec: { command } });
const hooked = (preStop: object, more: Given = {}): Given => ({
  ...more,
  containers: [app({ lifecycle: { preStop } })],
});
const hookIn = (pod: Loose) => pod.spec.containers[0].lifecycle.preStop;
const field = "spec.containers[0].lifecycle.preStop";

describe("a hook that only sleeps becomes a drain of at least as long:", () => {
  test.each<[string, Given, string, string]>([
    ["sleep", hooked(exec("sleep", "15")), "sleep 15", "--min-drain=15s --drain=24s"],
    ["a shell's", hooked(exec("sh", "-c", "sleep 0.5")), "sleep 0.5", "--min-drain=500ms --drain=24s"],
    ["the action", hooked({ sleep: { seconds: 24 } }), "sleep 24", "--min-drain=24s --drain=24s"],
    ["no time at all", hooked(exec("sleep", "0")), "sleep 0", "--drain=24s"],
    [
      "longer than the drain that is said",
      hooked(exec("sleep", "15"), { annotations: { "ebb.dev/drain": "9s" } }),
      "sleep 15",
      "--min-drain=15s --drain=15s",
    ],
    [
      "shorter than the least that is said",
      hooked(exec("sleep", "5"), { annotations: { "ebb.dev/min-drain": "12s" } }),
      "sleep 5",
      "--min-drain=12s --drain=24s",
    ],
  ])("%s", (_, given, slept, flags) => {
    const pod = changed(given);
    expect(hookIn(pod)).toEqual(exec("/ebb.dev/ebb", "drain", ...flags.split(" ")));
    expect(warnings(given)).toEqual([[field, `replaced "${slept}" by ebb drain ${flags}`]]);
    expect(injectPod(pod, policy)).toMatchObject({ kind: "unchanged", reason: "it has ebb already" });
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test("a renewed injection begins with the sleep again", () => {
    const given = hooked({ sleep: { seconds: 15 } });
    const drained = again(given, (pod) => Object.assign(pod.metadata.annotations, { "ebb.dev/drain": "20s" }));
    expect(hookIn(drained)).toEqual(exec("/ebb.dev/ebb", "drain", "--min-drain=15s", "--drain=20s"));
    const off = again(given, (pod) => Object.assign(pod.metadata.annotations, { "ebb.dev/drain": "0" }));
    expect(hookIn(off)).toEqual({ sleep: { seconds: 15 } });
  });

  test("a hook that the user has put there since stays", () => {
    const pod = structuredClone(changed(hooked(exec("sleep", "15"))));
    pod.spec.containers[0].lifecycle.preStop = exec("/flush");
    expect(removeFromPod(pod)).toMatchObject({ pod: podOf(hooked(exec("/flush"))) });
  });

  test.each<[string, object]>([
    ["one that ebb would not have replaced", exec("/evil")],
    ["one with two actions", { ...exec("/evil"), sleep: { seconds: 1 } }],
  ])("a status brings back no other hook: %s", (_, preStop) => {
    const pod = structuredClone(changed(hooked(exec("sleep", "15"))));
    const status = JSON.parse(pod.metadata.annotations["ebb.dev/status"]);
    status.containers.app.preStop = preStop;
    pod.metadata.annotations["ebb.dev/status"] = JSON.stringify(status);
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf() });
  });
});

describe("any other hook stays:", () => {
  test.each<[string, Given, string | undefined]>([
    [
      "a sleep that the grace period does not leave",
      hooked(exec("sleep", "25")),
      'kept "sleep 25", which is longer than the 24s that terminationGracePeriodSeconds leaves for a drain: raise that, or remove this hook, and ebb drain takes its place; until then nothing drains',
    ],
    [
      "one that asks a sidecar",
      hooked(exec("curl", "-X", "POST", "localhost:15020/quitquitquit")),
      "it asks a sidecar at /quitquitquit: it stays, and nothing drains; remove it, and ebb drain",
    ],
    ["a known injector's", hooked({ httpGet: { path: "/wait-for-drain", port: 8022 } }), undefined],
    ["ebb's own", hooked(exec("/ebb", "drain", "--drain", "9s")), undefined],
    ["a script that calls ebb", hooked(exec("sh", "-c", "/ebb.dev/ebb drain --drain=9s; /flush")), undefined],
    ["any", hooked(exec("/flush")), "nothing drains: call /ebb.dev/ebb drain --drain=24s in it"],
    ["any, after which ebb run drains", hooked(exec("/flush"), { annotations: { "ebb.dev/drain": "9s" } }), undefined],
    ["in a Job", hooked(exec("sleep", "5"), { spec: { restartPolicy: "Never" } }), undefined],
    ["where nothing drains", hooked(exec("sleep", "5"), { annotations: { "ebb.dev/drain": "0" } }), undefined],
    [
      "where no sidecar is wanted",
      hooked(exec("sleep", "5"), { annotations: { "ebb.dev/sidecar": "none" } }),
      undefined,
    ],
    [
      "where the container says itself how long it drains",
      { containers: [app({ env: [{ name: "EBB_DRAIN", value: "8s" }], lifecycle: { preStop: exec("sleep", "5") } })] },
      undefined,
    ],
  ])("%s", (_, given, message) => {
    expect(hookIn(changed(given))).toEqual(hookIn(podOf(given)));
    expect(warnings(given)).toEqual(
      (message === undefined ? [] : [[field, expect.stringContaining(message)]]) as never,
    );
  });

  test("an Envoy's, which is named", () => {
    const containers = [app(), { name: "envoy", lifecycle: { preStop: exec("/flush") } }];
    expect(warnings({ containers })).toEqual([
      ["spec.containers[1].lifecycle.preStop", expect.stringContaining("nothing drains")],
    ]);
  });
});

test("ebb is not taken out of a pod whose own hook calls it", () => {
  const pod = changed(hooked(exec("sh", "-c", "/ebb.dev/ebb drain; /flush")));
  expect(removeFromPod(pod)).toMatchObject({ kind: "refused", problems: [{ field: "spec.containers[0]" }] });
});
