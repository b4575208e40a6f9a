import { expect, test } from "bun:test";
import { settingProblems } from "../../../../../src/cluster/inject/core/injection-policy.ts";
import { annotationOptions } from "../../../../../src/cluster/inject/core/pod-annotations.ts";
import { commands } from "../../../../../src/commands.ts";
import { app, changed, type Given, type Loose, refusal, warnings } from "./injection.ts";

/** The variables of the first container of a changed pod. */
function envOf(given: Given, set: readonly (readonly [string, string])[] = []): Record<string, unknown> {
  const [container] = changed(given, { options: new Map(set) }).spec.containers;
  return Object.fromEntries(container.env.map(({ name, value, valueFrom }: Loose) => [name, value ?? valueFrom]));
}

const job = { EBB_RESTART_POLICY: "Never", EBB_POD_GRACE: "30s" };
const server = { EBB_RESTART_POLICY: "Always", EBB_POD_GRACE: "30s", EBB_DRAIN: "24s" };

test("each option of ebb run is an annotation but the one that differs from container to container, and no other is", () => {
  const flags = Object.values(commands.run?.options ?? {}).map(({ flag }) => flag);
  expect([...annotationOptions.keys(), "last-of"].sort()).toEqual([...flags].sort());
});

test.each([...annotationOptions.keys()])("ebb.dev/%s has a variable", (flag) => {
  expect(annotationOptions.get(flag)?.variables[0]?.name).toStartWith("EBB_");
});

test.each<[string, Given, Record<string, string>]>([
  ["a server's", {}, server],
  ["a Job's", { spec: { restartPolicy: "OnFailure" } }, { ...job, EBB_RESTART_POLICY: "OnFailure" }],
  [
    "a container's own restart policy",
    { containers: [app({ restartPolicy: "Never" })] },
    { ...server, EBB_RESTART_POLICY: "Never" },
  ],
  [
    "a grace period",
    { spec: { terminationGracePeriodSeconds: 90 } },
    { ...server, EBB_POD_GRACE: "90s", EBB_DRAIN: "60s" },
  ],
  ["no grace period at all", { spec: { terminationGracePeriodSeconds: 0 } }, { EBB_RESTART_POLICY: "Always" }],
  ["an option for all", { annotations: { "ebb.dev/wait-timeout": "1m" } }, { ...server, EBB_WAIT_TIMEOUT: "1m" }],
  [
    "an option of the container before one for all",
    { annotations: { "ebb.dev/grace": "1s", "ebb.dev/grace.app": "2s" } },
    { ...server, EBB_GRACE: "2s", EBB_DRAIN: "27s" },
  ],
  [
    "what the pod is, said otherwise",
    { annotations: { "ebb.dev/restart-policy": "Never", "ebb.dev/pod-grace": "20s" } },
    { EBB_RESTART_POLICY: "Never", EBB_POD_GRACE: "20s", EBB_DRAIN: "14s" },
  ],
  [
    "a list, with commas",
    { annotations: { "ebb.dev/quit": "http://localhost/a,+PUT http://localhost/b" } },
    { ...server, EBB_QUIT: "http://localhost/a,+PUT http://localhost/b" },
  ],
  ["a switch", { annotations: { "ebb.dev/signal-group": "true" } }, { ...server, EBB_SIGNAL_GROUP: "true" }],
])("%s is told by variables", (_, given, env) => {
  expect(envOf(given)).toEqual(env);
});

test("an option that is meant for all pods comes after the pod's own", () => {
  const set = [
    ["grace", "9s"],
    ["quit-timeout", "8s"],
  ] as const;
  const annotations = { "ebb.dev/grace": "1s" };
  expect(envOf({ annotations }, set)).toEqual({ ...server, EBB_GRACE: "1s", EBB_QUIT_TIMEOUT: "8s", EBB_DRAIN: "28s" });
});

test("what is meant for all pods gives way to another tool's variable; an annotation does not", () => {
  const containers = [app({ env: [{ name: "NEVER_KILL_ISTIO", value: "true" }] })];
  const given = { containers, spec: { restartPolicy: "Never" } };
  expect(envOf(given, [["quit-on", "success"]])).not.toHaveProperty("EBB_QUIT_ON");
  expect(envOf({ ...given, annotations: { "ebb.dev/quit-on": "success" } })).toHaveProperty("EBB_QUIT_ON", "success");
});

test.each<[string, string, string]>([
  ["ebb.dev/drain", "soon", 'expected a duration such as 30s, 1m30s or 500ms, got "soon"'],
  ["ebb.dev/drain.app", "", 'expected a duration such as 30s, 1m30s or 500ms, got ""'],
  ["ebb.dev/sidecar", "istio,linkerdd", "expected auto, none, or NAME or NAME:PORT of istio, envoy"],
  [
    "ebb.dev/sidecar",
    "envoy:9901,envoy:9902",
    "expected one envoy; for the other, --ready http://localhost:9902/ready",
  ],
  ["ebb.dev/quit", "http://localhost/a,nowhere", 'got "nowhere"'],
  ["ebb.dev/quit", "", 'got ""'],
  ["ebb.dev/signal-group", "yes", 'expected true or false, got "yes"'],
  ["ebb.dev/restart-policy", "sometimes", 'expected Always, OnFailure or Never, got "sometimes"'],
  ["ebb.dev/apps", " , ", 'expected names of containers, as in a,b, got " , "'],
])("a bad value is refused, not ignored: %s: %j", (name, value, message) => {
  const [[field, said] = []] = refusal({ annotations: { [name]: value } });
  expect(field).toBe(`metadata.annotations[${name}]`);
  expect(said).toContain(message);
});

test.each(["ebb.dev/reap", "ebb.dev/reap-exec.envoy", "ebb.dev/reap-quit.envoy", "ebb.dev/reap-patience.envoy"])(
  "%s is the reaper's: nothing is said of it",
  (name) => {
    expect(warnings({ annotations: { [name]: "x" } })).toEqual([]);
  },
);

test.each<[string, string]>([
  ["ebb.dev/drian", "no such annotation; did you mean ebb.dev/drain?"],
  ["ebb.dev/sidecarz", "no such annotation; did you mean ebb.dev/sidecars?"],
  ["ebb.dev/Drain", "no such annotation; did you mean ebb.dev/drain?"],
  ["ebb.dev/json", "no such annotation"],
  ["ebb.dev/apps.web", "no such annotation; did you mean ebb.dev/apps?"],
  ["ebb.dev/containers", "no such annotation"],
  ["ebb.dev/reaper", "no such annotation"],
  ["ebb.dev/reap-exec", "no such annotation"],
  ["ebb.dev/", "no such annotation"],
])("an annotation that is none is said: %s", (name, message) => {
  expect(warnings({ annotations: { [name]: "1s" } })).toEqual([[`metadata.annotations[${name}]`, message]]);
});

test("what --set cannot mean is told, each in a line", () => {
  const problems = settingProblems(
    new Map([
      ["drain", "soon"],
      ["drian", "1s"],
      ["grace", "1s"],
      ["json", "true"],
    ]),
  );
  expect(problems).toEqual([
    '--set drain: expected a duration such as 30s, 1m30s or 500ms, got "soon"',
    "--set drian: ebb run has no such option; did you mean drain?",
    "--set json: ebb run has no such option",
  ]);
});
