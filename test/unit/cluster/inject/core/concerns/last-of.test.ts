import { describe, expect, test } from "bun:test";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { named } from "../chosen.ts";
import { app, changed, type Given, type Loose, podOf, policy, refusal, warnings } from "../injection.ts";

const job = { restartPolicy: "Never" };
const three = [named("a"), named("b"), named("c")];

/** Returns the value of a variable in each container. */
function valuesOf(pod: Loose, variable: string): readonly unknown[] {
  return pod.spec.containers.map(({ env = [] }: Loose) => env.find(({ name }: Loose) => name === variable)?.value);
}

const lastOf = (pod: Loose) => valuesOf(pod, "EBB_LAST_OF");
const volumesOf = (pod: Loose) => pod.spec.volumes.map(({ name }: Loose) => name);

describe("several apps in a pod that ends", () => {
  test.each(["Never", "OnFailure"])("restartPolicy %s: each knows of the others, itself first", (restartPolicy) => {
    const given = { containers: three, annotations: { "ebb.dev/apps": "a,b,c" }, spec: { restartPolicy } };
    const pod = changed(given);
    expect(lastOf(pod)).toEqual(["a,b,c", "b,a,c", "c,a,b"]);
    expect(pod.spec.volumes.at(-1)).toEqual({ name: "ebb-apps", emptyDir: { sizeLimit: "1Mi" } });
    for (const { name, volumeMounts } of pod.spec.containers)
      expect(volumeMounts.slice(-2)).toEqual([
        { name: "ebb-apps", mountPath: "/ebb.dev-apps", readOnly: true },
        { name: "ebb-apps", mountPath: "/ebb.dev-own", subPath: name },
      ]);
    expect(warnings(given)).toEqual([]);
    expect(injectPod(pod, policy).kind).toBe("unchanged");
  });

  const own = { command: ["/ebb", "run", "--", "/b"] };
  const never = { env: [{ name: "NEVER_KILL_ISTIO", value: "true" }] };
  test.each<[string, Given, readonly unknown[]]>([
    [
      "one that never quits is waited for by the others",
      { containers: three, annotations: { "ebb.dev/quit-on.b": "never" } },
      ["a,b,c", "b,a,c", "c,a,b"],
    ],
    ["one that starts an ebb of its own counts", { containers: [named("a"), named("b", own)] }, ["a,b", "b,a"]],
    [
      "a value that ebb run will refuse is no reason to believe that it will not quit",
      { containers: [named("a", { env: [{ name: "EBB_QUIT_ON", value: "sometimes" }] }), named("b", never)] },
      ["a,b", "b,a"],
    ],
    ["sidecars do not count", { containers: [named("a"), named("envoy"), named("b")] }, ["a,b", undefined, "b,a"]],
    [
      "what the manifest says stays",
      { containers: [named("a", { env: [{ name: "EBB_LAST_OF", value: "a" }] }), named("b")] },
      ["a", "b,a"],
    ],
    [
      "in a server an app may end for good, too",
      { containers: [named("a", job), named("b")], spec: {} },
      ["a,b", "b,a"],
    ],
  ])("%s", (_, given, expected) => {
    expect(lastOf(changed({ spec: job, ...given }))).toEqual([...expected]);
  });

  test.each<[string, Given]>([
    ["there is one app", { containers: [named("a"), named("envoy")] }],
    ["none of them quits", { containers: three, annotations: { "ebb.dev/quit-on": "never" } }],
    ["none of them quits, as another tool has it", { containers: [named("a", never), named("b", never)] }],
    ["there is nothing to quit", { containers: three, annotations: { "ebb.dev/sidecar": "none" } }],
    ["all of them run on", { containers: three, spec: {} }],
    [
      "each of them runs on",
      { containers: [named("a", { restartPolicy: "Always" }), named("b", { restartPolicy: "Always" })] },
    ],
  ])("need no volume where %s", (_, given) => {
    const pod = changed({ spec: job, ...given });
    expect(volumesOf(pod)).not.toContain("ebb-apps");
    expect(lastOf(pod).filter((value) => value !== undefined)).toEqual([]);
  });

  test("have a volume of another name where the pod has one of that name", () => {
    const volumes = [{ name: "ebb-apps", emptyDir: {} }];
    const pod = changed({ containers: three, spec: { ...job, volumes } });
    expect(volumesOf(pod)).toEqual(["ebb-apps", "ebb", "ebb-annotations", "ebb-apps-2"]);
    expect(pod.spec.containers[0].volumeMounts.at(-1).name).toBe("ebb-apps-2");
  });

  test.each(["/ebb.dev-apps", "/ebb.dev-own/x/"])("cannot have a volume of their own at %s", (mountPath) => {
    const containers = [named("a"), named("b", { volumeMounts: [{ name: "x", mountPath }] })];
    const [[field, message] = []] = refusal({ containers, spec: job });
    expect(field).toBe("spec.containers[1].volumeMounts[0].mountPath");
    expect(message).toMatch(
      /^the app containers signal their end to each other in \/ebb\.dev-\w+: mount this elsewhere$/,
    );
  });

  test("are at most fifty, as each is told of all", () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => named(`a${at}`));
    expect(changed({ containers: many(50), spec: job }).spec.containers).toHaveLength(50);
    const [[field, message] = []] = refusal({ containers: many(51), spec: job });
    expect([field, message]).toEqual([
      "spec.containers",
      expect.stringContaining("at most 50 apps can wait for each other"),
    ]);
    changed({ containers: many(51), spec: job, annotations: { "ebb.dev/quit-on": "never" } });
  });

  test("may have what they like at these paths where ebb needs none of them", () => {
    const volumeMounts = [{ name: "x", mountPath: "/ebb.dev-apps" }];
    expect(changed({ containers: [app({ volumeMounts })], spec: job }).spec.containers[0].volumeMounts).toHaveLength(3);
  });

  test("are what they were once ebb goes, also one with a mount of that volume that somebody else made", () => {
    const pod = structuredClone(changed({ containers: three, spec: job }));
    pod.metadata.annotations["ebb.dev/inject"] = "false";
    const before = podOf({ containers: three, spec: job, annotations: { "ebb.dev/inject": "false" } });
    const removed = injectPod(pod, policy);
    expect(removed).toMatchObject({ kind: "removed" });
    expect(JSON.stringify("pod" in removed && removed.pod)).toBe(JSON.stringify(before));
    pod.spec.containers[1].volumeMounts.push({ name: "ebb-apps", mountPath: "/see" });
    expect(injectPod(pod, policy)).toMatchObject({ kind: "refused", problems: [{ field: "spec.containers[1]" }] });
  });
});

describe("when the kubelet restarts a container is told to its ebb", () => {
  const rule = (operator: string, values: readonly number[], action = "Restart") => ({
    action,
    exitCodes: { operator, values },
  });
  test.each<[string, object, string, string | undefined]>([
    ["the pod's policy", {}, "OnFailure", undefined],
    ["its own", { restartPolicy: "Never" }, "Never", undefined],
    ["rules", { restartPolicy: "Never", restartPolicyRules: [rule("In", [42, 43])] }, "Never", "42,43"],
    [
      "several rules",
      { restartPolicy: "Never", restartPolicyRules: [rule("In", [42]), rule("In", [9])] },
      "Never",
      "42,9",
    ],
    [
      "a rule for all other codes",
      { restartPolicy: "Never", restartPolicyRules: [rule("NotIn", [0, 1])] },
      "Never",
      "!0,1",
    ],
    [
      "both kinds of rules",
      {
        restartPolicy: "Never",
        restartPolicyRules: [rule("NotIn", [0, 1, 42]), rule("In", [42]), rule("NotIn", [0, 42])],
      },
      "Never",
      "!0",
    ],
    [
      "rules for every code",
      { restartPolicy: "Never", restartPolicyRules: [rule("NotIn", [0]), rule("In", [0])] },
      "Always",
      undefined,
    ],
    [
      "a rule that ebb does not know",
      { restartPolicy: "Never", restartPolicyRules: [rule("Odd", [1])] },
      "Always",
      undefined,
    ],
    [
      "rules without a policy, which Kubernetes refuses",
      { restartPolicyRules: [rule("In", [42])] },
      "OnFailure",
      undefined,
    ],
    ["rules that are none", { restartPolicy: "Never", restartPolicyRules: [null, 1, {}] }, "Always", undefined],
  ])("%s", (_, more, restartPolicy, codes) => {
    const pod = changed({ containers: [app(more)], spec: { restartPolicy: "OnFailure" } });
    expect(valuesOf(pod, "EBB_RESTART_POLICY")).toEqual([restartPolicy]);
    expect(valuesOf(pod, "EBB_RESTART_CODES")).toEqual([codes]);
  });
});

describe("a pod with several apps that nobody named", () => {
  const given = { containers: [app(), named("helper")], spec: { restartPolicy: "Never" } };

  test("is said to end only with all of them, if it ends", () => {
    const message =
      "the pod ends only when all of its apps have ended (app,helper); if one of them is a sidecar, name it in ebb.dev/sidecars; if not, name all of them in ebb.dev/apps";
    expect(warnings(given)).toEqual([["spec.containers", message]]);
    expect(warnings({ ...given, annotations: { "ebb.dev/apps": "app" } })).toEqual([["spec.containers", message]]);
    expect(warnings({ ...given, spec: {} })).toEqual([]);
  });

  test.each([{ "ebb.dev/apps": "app,helper" }, { "ebb.dev/sidecars": "helper" }])("%j says it", (annotations) => {
    expect(warnings({ ...given, annotations }).filter(([field]) => field === "spec.containers")).toEqual([]);
  });
});
