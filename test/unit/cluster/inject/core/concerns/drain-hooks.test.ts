import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { again } from "../injected-pods.ts";
import { app, changed, type Given, type Loose, podOf, policy, warnings } from "../injection.ts";

const exec = (...command: readonly string[]) => ({ exec: { command } });
const hooked = (preStop: object, more: Given = {}, own: object = {}): Given => ({
  ...more,
  containers: [app({ ...own, lifecycle: { preStop } })],
});
const hookIn = (pod: Loose) => pod.spec.containers[0].lifecycle?.preStop;
const drainIn = (pod: Loose) =>
  pod.spec.containers[0].env.flatMap(({ name, value }: Loose) => (/DRAIN$/.test(name) ? [`${name}=${value}`] : []));
const field = "spec.containers[0].lifecycle.preStop";

describe("in the place of a hook that only sleeps, ebb run drains for at least as long:", () => {
  test.each<[string, Given, string, readonly string[]]>([
    ["sleep", hooked(exec("sleep", "15")), "sleep 15", ["EBB_MIN_DRAIN=15s", "EBB_DRAIN=24s"]],
    ["a shell's", hooked(exec("sh", "-c", "sleep 0.5")), "sleep 0.5", ["EBB_MIN_DRAIN=500ms", "EBB_DRAIN=24s"]],
    ["the action", hooked({ sleep: { seconds: 24 } }), "sleep 24", ["EBB_MIN_DRAIN=24s", "EBB_DRAIN=24s"]],
    ["no time at all", hooked(exec("sleep", "0")), "sleep 0", ["EBB_DRAIN=24s"]],
    [
      "longer than the drain that is said",
      hooked(exec("sleep", "15"), { annotations: { "ebb.dev/drain": "9s" } }),
      "sleep 15",
      ["EBB_MIN_DRAIN=15s", "EBB_DRAIN=15s"],
    ],
    [
      "shorter than the least that is said",
      hooked(exec("sleep", "5"), { annotations: { "ebb.dev/min-drain": "12s" } }),
      "sleep 5",
      ["EBB_MIN_DRAIN=12s", "EBB_DRAIN=24s"],
    ],
    [
      "shorter than what the container says",
      hooked(exec("sleep", "5"), {}, { env: [{ name: "EBB_MIN_DRAIN", value: "9s" }] }),
      "sleep 5",
      ["EBB_DRAIN=24s"],
    ],
  ])("%s", (_, given, slept, set) => {
    const pod = changed(given);
    expect(pod.spec.containers[0]).not.toHaveProperty("lifecycle");
    expect(drainIn(pod)).toEqual(expect.arrayContaining([...set]));
    expect(warnings(given)).toEqual([[field, `replaced "${slept}" by the drain of ebb run: ${set.join(", ")}`]]);
    expect(injectPod(pod, policy)).toMatchObject({ kind: "unchanged", reason: "it has ebb already" });
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test("the container's other hook stays", () => {
    const postStart = exec("/warm");
    const { preStop } = { preStop: exec("sleep", "15") };
    const given = {
      containers: [app({ lifecycle: { postStart, preStop } })],
      annotations: { "ebb.dev/no-wait": "true" },
    };
    const pod = changed(given);
    expect(pod.spec.containers[0].lifecycle).toEqual({ postStart });
    expect(removeFromPod(pod)).toMatchObject({ pod: podOf(given) });
  });

  test("a renewed injection begins with the sleep again", () => {
    const given = hooked({ sleep: { seconds: 15 } });
    const drained = again(given, (pod) => Object.assign(pod.metadata.annotations, { "ebb.dev/drain": "20s" }));
    expect(drainIn(drained)).toEqual(["EBB_DRAIN=20s", "EBB_MIN_DRAIN=15s"]);
    expect(hookIn(drained)).toBeUndefined();
    const off = again(given, (pod) => Object.assign(pod.metadata.annotations, { "ebb.dev/drain": "0" }));
    expect(hookIn(off)).toEqual({ sleep: { seconds: 15 } });
  });

  test("a hook that was put there since stays, and the sleep does not come back", () => {
    const flush = (pod: Loose) => Object.assign(pod.spec.containers[0], { lifecycle: { preStop: exec("/flush") } });
    const pod = structuredClone(changed(hooked(exec("sleep", "15"))));
    flush(pod);
    expect(removeFromPod(pod)).toMatchObject({ pod: podOf(hooked(exec("/flush"))) });
    const renewed = again(hooked(exec("sleep", "15")), flush);
    expect([hookIn(renewed), drainIn(renewed)]).toEqual([exec("/flush"), ["EBB_DRAIN=24s"]]);
  });

  test.each<[string, object]>([
    ["one that ebb would not have taken out", exec("/evil")],
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
  const fits =
    "drains after this hook, and both must fit into terminationGracePeriodSeconds (30s): set ebb.dev/pod-grace.app";
  test.each<[string, Given, string | undefined]>([
    [
      "a sleep that the grace period does not leave",
      hooked(exec("sleep", "25")),
      'kept "sleep 25", as terminationGracePeriodSeconds leaves 24s for a drain: raise that, or remove this hook; until then ebb run drains only after it, for 2s at most',
    ],
    [
      "a sleep that is longer than what the container says",
      hooked(exec("sleep", "8"), {}, { env: [{ name: "MINIMUM_DRAIN_DURATION", value: "5s" }] }),
      'kept "sleep 8", as MINIMUM_DRAIN_DURATION of this container is shorter: raise that, or remove this hook; until then ebb run drains only after it, for 16s at most',
    ],
    [
      "one that asks a sidecar",
      hooked(exec("curl", "-X", "POST", "localhost:15020/quitquitquit")),
      "it asks a sidecar at /quitquitquit: it stays, and ebb run drains only after it has ended; remove it, and ebb run",
    ],
    ["a known injector's", hooked({ httpGet: { path: "/wait-for-drain", port: 8022 } }), undefined],
    ["ebb's own", hooked(exec("/ebb", "drain", "--drain", "9s")), undefined],
    ["a script that calls ebb", hooked(exec("sh", "-c", "/ebb.dev/ebb drain --drain=9s; /flush")), undefined],
    ["any", hooked(exec("/flush")), fits],
    [
      "any, in a Job that drains",
      hooked(exec("/flush"), { annotations: { "ebb.dev/drain": "9s" }, spec: { restartPolicy: "Never" } }),
      fits,
    ],
    [
      "any, if the pod says what it leaves",
      hooked(exec("/flush"), { annotations: { "ebb.dev/pod-grace": "20s" } }),
      undefined,
    ],
    [
      "any, if the container does",
      hooked(exec("/flush"), {}, { env: [{ name: "EBB_POD_GRACE", value: "20s" }] }),
      undefined,
    ],
    ["in a Job", hooked(exec("sleep", "5"), { spec: { restartPolicy: "Never" } }), undefined],
    ["where nothing drains", hooked(exec("sleep", "5"), { annotations: { "ebb.dev/drain": "0" } }), undefined],
    [
      "where no sidecar is wanted",
      hooked(exec("sleep", "5"), { annotations: { "ebb.dev/sidecar": "none" } }),
      undefined,
    ],
    [
      "where the container says itself how long it drains",
      hooked(exec("sleep", "5"), {}, { env: [{ name: "EBB_DRAIN", value: "8s" }] }),
      undefined,
    ],
  ])("%s", (_, given, message) => {
    expect(hookIn(changed(given))).toEqual(hookIn(podOf(given)));
    expect(warnings(given)).toEqual(
      (message === undefined ? [] : [[field, expect.stringContaining(message)]]) as never,
    );
  });
});

test("a sleep longer than the grace period leaves for a drain, of an app that ebb does not start, is warned of", () => {
  const given = hooked(exec("sleep", "60"), {}, { command: undefined });
  expect(hookIn(changed(given))).toEqual(exec("sleep", "60"));
  const message =
    'kept "sleep 60", as terminationGracePeriodSeconds leaves 24s for a drain: raise that, or remove this hook, and ebb drains';
  expect(warnings(given)).toContainEqual([field, message]);
});

test("ebb is not taken out of a pod whose own hook calls it", () => {
  const pod = changed(hooked(exec("sh", "-c", "/ebb.dev/ebb drain; /flush")));
  expect(removeFromPod(pod)).toMatchObject({ kind: "refused", problems: [{ field: "spec.containers[0]" }] });
});

describe("what a former ebb has put in: ebb drain as hook of the app and of the proxy", () => {
  const sleeps = { preStop: exec("sleep", "15") };
  const given = { containers: [app({ lifecycle: sleeps }), { name: "envoy", image: "envoyproxy/envoy:v1.38.0" }] };
  const former = () => {
    const pod = structuredClone(changed(given));
    const [own, proxy] = pod.spec.containers;
    own.lifecycle = { preStop: exec("/ebb.dev/ebb", "drain", "--min-drain=15s", "--drain=24s") };
    own.env = own.env.filter(({ name }: Loose) => !/DRAIN$/.test(name));
    proxy.lifecycle = { preStop: exec("/ebb.dev/ebb", "drain", "--sidecar=envoy", "--min-drain=15s", "--drain=24s") };
    const status = JSON.parse(pod.metadata.annotations["ebb.dev/status"]);
    const { env, ...rest } = status.containers.app;
    const names = env.filter((name: string) => !/DRAIN$/.test(name));
    status.containers.app = { ...rest, env: names, hook: true };
    pod.metadata.annotations["ebb.dev/status"] = JSON.stringify(status);
    return pod;
  };

  test("is taken out again", () => {
    expect(removeFromPod(former())).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test("becomes what ebb puts in now", () => {
    expect(injectPod(former(), policy)).toMatchObject({ kind: "changed", pod: changed(given) });
  });
});
