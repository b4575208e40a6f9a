import { expect, test } from "bun:test";
import { app, changed, type Given, type Loose, warnings } from "../injection.ts";

/** How the containers of a changed pod leave: their hooks, and what `ebb run` is told. */
function leavingOf(given: Given, set: readonly (readonly [string, string])[] = []): unknown {
  const { containers } = changed(given, { options: new Map(set) }).spec;
  return containers.map(({ lifecycle, env = [] }: Loose) => ({
    hook: lifecycle?.preStop?.exec?.command?.join(" "),
    run: env.find(({ name }: Loose) => name === "EBB_DRAIN")?.value,
  }));
}

const hook = (drain: string) => ({ hook: `/ebb.dev/ebb drain --drain=${drain}`, run: undefined });
const run = (drain?: string) => ({ hook: undefined, run: drain });
const unnamed = (more: object = {}) => app({ command: undefined, ...more });
const other = { preStop: { exec: { command: ["/flush", "5"] } } };
const grace = (seconds: number) => ({ terminationGracePeriodSeconds: seconds });

test.each<[string, Given, object]>([
  ["a server drains under ebb run, for what fits its grace period", {}, run("24s")],
  ["and takes 60 s where there is room", { spec: grace(300) }, run("60s")],
  ["or as long as it is told to", { spec: grace(300), annotations: { "ebb.dev/drain": "2m" } }, run("2m")],
  ["in a container, too", { spec: grace(300), annotations: { "ebb.dev/drain.app": "90s" } }, run("90s")],
  ["the app's own grace is left to it", { annotations: { "ebb.dev/grace": "12s" } }, run("17s")],
  ["a grace period that is said to be shorter counts", { annotations: { "ebb.dev/pod-grace": "20s" } }, run("14s")],
  ["one that is said to be longer does not", { annotations: { "ebb.dev/pod-grace": "40s" } }, run("24s")],
  ["of little there is a half", { spec: grace(2) }, run("500ms")],
  [
    "ebb run in the name of another tool drains, too",
    {
      containers: [
        app({ command: ["scuttle", "/app"], env: [{ name: "ENVOY_ADMIN_API", value: "http://127.0.0.1:1" }] }),
      ],
    },
    run("24s"),
  ],
  ["one that leaves sidecars alone gets a hook", { containers: [app({ command: ["scuttle", "/app"] })] }, hook("24s")],
  ["so does one in whose name ebb becomes the app", { containers: [app({ command: ["valet", "/app"] })] }, hook("24s")],
  ["an app that ebb does not start has a hook, too", { containers: [unnamed()] }, hook("24s")],
  ["a Job does not drain", { spec: { restartPolicy: "Never" } }, run()],
  ["unless it is told to", { spec: { restartPolicy: "OnFailure" }, annotations: { "ebb.dev/drain": "9s" } }, run("9s")],
  ["with 0 it does not drain", { annotations: { "ebb.dev/drain": "0" } }, run("0")],
  ["nor without a grace period", { spec: grace(0) }, run()],
  ["nor with a second of it", { spec: grace(1) }, run()],
  ["nor without a sidecar", { annotations: { "ebb.dev/sidecar": "none" } }, run()],
  [
    "a hook of the container's own stays, and the drain comes after it",
    { containers: [app({ lifecycle: other })] },
    { hook: "/flush 5", run: "24s" },
  ],
  [
    "one that drains itself is enough",
    { containers: [app({ lifecycle: { preStop: { exec: { command: ["/ebb", "drain"] } } } })] },
    { hook: "/ebb drain", run: undefined },
  ],
  [
    "unless ebb run is told to",
    {
      containers: [app({ lifecycle: { preStop: { exec: { command: ["/ebb", "drain"] } } } })],
      annotations: { "ebb.dev/drain": "9s" },
    },
    { hook: "/ebb drain", run: "9s" },
  ],
  [
    "one that sets EBB_DRAIN drains for so long",
    { containers: [app({ env: [{ name: "EBB_DRAIN", value: "8s" }] })] },
    run("8s"),
  ],
])("%s", (_, given, expected) => {
  expect(leavingOf(given)).toEqual([expected]);
});

test("what is meant for all pods counts: how long, or not at all", () => {
  expect(leavingOf({}, [["drain", "10s"]])).toEqual([run("10s")]);
  expect(leavingOf({}, [["drain", "0"]])).toEqual([run("0")]);
});

test("other hooks of the container stay", () => {
  const postStart = { sleep: { seconds: 1 } };
  const [container] = changed({ containers: [unnamed({ lifecycle: { postStart, preStop: null } })] }).spec.containers;
  expect(container.lifecycle).toEqual({
    postStart,
    preStop: { exec: { command: ["/ebb.dev/ebb", "drain", "--drain=24s"] } },
  });
});

test.each<[string, Given]>([
  ["a hook", { annotations: { "ebb.dev/drain": "40s" }, containers: [unnamed()] }],
  ["ebb run", { annotations: { "ebb.dev/drain": "40s" } }],
])("a drain by %s that does not fit the grace period is said", (_, given) => {
  expect(warnings(given)).toContainEqual([
    "spec.terminationGracePeriodSeconds",
    "grace period 30s: the drain is shortened from 40s to 24s, so that the app has time to end",
  ]);
});

test.each<[string, Given, string]>([
  ["the grace period", { annotations: { "ebb.dev/min-drain": "60s" } }, cutMinimum("24s", "23s", 30)],
  [
    "half of a short one",
    { spec: grace(3), annotations: { "ebb.dev/min-drain": "60s" } },
    cutMinimum("1s", "500ms", 3),
  ],
  [
    "ebb's own drain",
    { spec: grace(300), annotations: { "ebb.dev/min-drain": "60s" } },
    "min-drain 60s does not fit into the drain of 60s, and is shortened to 59s: raise drain",
  ],
  [
    "an option",
    { spec: grace(300), annotations: { "ebb.dev/min-drain": "60s", "ebb.dev/drain": "40s" } },
    "min-drain 60s does not fit into the drain of 40s, and is shortened to 39s: raise drain",
  ],
])("a --min-drain is said that does not fit into the drain, which is limited by %s", (_, given, expected) => {
  expect(warnings(given)).toEqual([["spec.containers[0]", expected]]);
});

test("a --min-drain as long as the drain is nothing to say: the app ends what is left", () => {
  const annotations = { "ebb.dev/min-drain": "40s", "ebb.dev/drain": "40s" };
  expect(warnings({ spec: grace(300), annotations })).toEqual([]);
});

function cutMinimum(drain: string, to: string, seconds: number): string {
  return `min-drain 60s does not fit into the drain of ${drain}, and is shortened to ${to}: raise terminationGracePeriodSeconds, which is ${seconds}s`;
}

test.each<[string, Given]>([
  ["in a Job", { spec: { restartPolicy: "Never" } }],
  ["beside a hook that stays", { containers: [app({ lifecycle: other })] }],
])("a --min-drain that does not fit is said %s, too", (_, given) => {
  const set = { "min-drain": "60s", drain: "90s", grace: "10s" };
  const [cut, least] = warnings(given, { options: new Map(Object.entries(set)) });
  expect(cut?.[1]).toContain("the drain is shortened from 90s to 19s");
  expect(least).toEqual(["spec.containers[0]", cutMinimum("19s", "18s", 30)]);
});

test.each<[string, Given]>([
  ["fits", { spec: grace(105), annotations: { "ebb.dev/drain": "90s", "ebb.dev/grace": "10s" } }],
  ["is for no drain", { spec: { restartPolicy: "Never" } }],
  ["is the container's own", { containers: [app({ env: [{ name: "EBB_MIN_DRAIN", value: "1s" }] })] }],
])("nothing is said of a --min-drain that %s", (_, given) => {
  expect(warnings(given, { options: new Map([["min-drain", "60s"]]) })).toEqual([]);
});

const podGraceOf = (given: Given): unknown =>
  changed(given).spec.containers[0].env.find(({ name }: Loose) => name === "EBB_POD_GRACE")?.value;
const sleeping = (seconds: number, more: Given = {}): Given => ({
  ...more,
  containers: [app({ lifecycle: { preStop: { sleep: { seconds } } } })],
});

test.each<[string, Given, string | undefined]>([
  ["a sleep that stays", sleeping(25), "5s"],
  ["one of a Job", sleeping(5, { spec: { restartPolicy: "Never" } }), "25s"],
  ["one where nothing drains", sleeping(5, { annotations: { "ebb.dev/drain": "0" } }), "25s"],
  ["one of nearly all of it: the kubelet leaves 2 s", sleeping(29), "2s"],
  ["one of more than it", sleeping(40), "2s"],
  ["none that the drain replaces", sleeping(15), "30s"],
  ["none where the pod says what is left", sleeping(25, { annotations: { "ebb.dev/pod-grace": "9s" } }), "9s"],
  ["none without a grace period", sleeping(25, { spec: grace(0) }), undefined],
])("the pod's grace period is told less a hook that ebb run begins after: %s", (_, given, expected) => {
  expect(podGraceOf(given)).toBe(expected);
});

test("what the hook leaves is what the drain fits into", () => {
  expect(leavingOf(sleeping(25))).toEqual([run("2s")]);
  expect(leavingOf(sleeping(25, { annotations: { "ebb.dev/pod-grace": "20s" } }))).toEqual([run("14s")]);
});
