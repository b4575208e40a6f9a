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
const sleep = { preStop: { exec: { command: ["sleep", "5"] } } };
const other = { preStop: { exec: { command: ["/flush", "5"] } } };
const grace = (seconds: number) => ({ terminationGracePeriodSeconds: seconds });

test.each<[string, Given, object]>([
  ["a server has a hook, which fits its grace period", {}, hook("24s")],
  ["and takes 60 s where there is room", { spec: grace(300) }, hook("60s")],
  ["or as long as it is told to", { spec: grace(300), annotations: { "ebb.dev/drain": "2m" } }, hook("2m")],
  ["in a container, too", { spec: grace(300), annotations: { "ebb.dev/drain.app": "90s" } }, hook("90s")],
  ["the app's own grace is left to it", { annotations: { "ebb.dev/grace": "12s" } }, hook("17s")],
  ["a grace period that is said to be shorter counts", { annotations: { "ebb.dev/pod-grace": "20s" } }, hook("14s")],
  ["one that is said to be longer does not", { annotations: { "ebb.dev/pod-grace": "40s" } }, hook("24s")],
  ["of little there is a half", { spec: grace(2) }, hook("500ms")],
  ["a Job has none", { spec: { restartPolicy: "Never" } }, run()],
  [
    "nor has a Job that drains",
    { spec: { restartPolicy: "OnFailure" }, annotations: { "ebb.dev/drain": "9s" } },
    run("9s"),
  ],
  ["with 0 it does not drain", { annotations: { "ebb.dev/drain": "0" } }, run("0")],
  ["nor without a grace period", { spec: grace(0) }, run()],
  ["nor with a second of it", { spec: grace(1) }, run()],
  ["nor without a sidecar", { annotations: { "ebb.dev/sidecar": "none" } }, run()],
  [
    "a container with a hook of its own keeps it",
    { containers: [app({ lifecycle: other })] },
    { ...run(), hook: "/flush 5" },
  ],
  [
    "and drains in ebb run where it is told to",
    { containers: [app({ lifecycle: other })], annotations: { "ebb.dev/drain": "9s" } },
    { hook: "/flush 5", run: "9s" },
  ],
  [
    "one that sets EBB_DRAIN drains in ebb run",
    { containers: [app({ env: [{ name: "EBB_DRAIN", value: "8s" }] })] },
    run("8s"),
  ],
])("%s", (_, given, expected) => {
  expect(leavingOf(given)).toEqual([expected]);
});

test("what is meant for all pods counts: how long, or not at all", () => {
  expect(leavingOf({}, [["drain", "10s"]])).toEqual([hook("10s")]);
  expect(leavingOf({}, [["drain", "0"]])).toEqual([run("0")]);
});

test("other hooks of the container stay", () => {
  const postStart = { sleep: { seconds: 1 } };
  const [container] = changed({ containers: [app({ lifecycle: { postStart, preStop: null } })] }).spec.containers;
  expect(container.lifecycle).toEqual({
    postStart,
    preStop: { exec: { command: ["/ebb.dev/ebb", "drain", "--drain=24s"] } },
  });
});

test.each<[string, Given]>([
  ["a hook", { annotations: { "ebb.dev/drain": "40s" } }],
  ["ebb run", { annotations: { "ebb.dev/drain": "40s" }, containers: [app({ lifecycle: other })] }],
])("a drain by %s that does not fit the grace period is said", (_, given) => {
  expect(warnings(given)).toEqual([
    [
      "spec.terminationGracePeriodSeconds",
      "grace period 30s: the drain is shortened from 40s to 24s, so that the app has time to end",
    ],
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

function cutMinimum(drain: string, to: string, seconds: number): string {
  return `min-drain 60s does not fit into the drain of ${drain}, and is shortened to ${to}: raise terminationGracePeriodSeconds, which is ${seconds}s`;
}

test.each<[string, Given]>([
  ["is said for ebb run, too", { spec: { restartPolicy: "Never" } }],
  ["is said beside a hook that stays", { containers: [app({ lifecycle: other })] }],
])("a --min-drain that does not fit %s", (_, given) => {
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

// Ordinary proxies

const proxy = (name: string, more: object = {}) => ({ name, image: "registry.example.com/proxy:1", ...more });
const beside = (name: string, more: object = {}): Given => ({ containers: [app(), proxy(name, more)] });

test.each<[string, string, string]>([
  ["envoy", "envoy", "/ebb.dev/ebb drain --sidecar=envoy --drain=24s"],
  ["istio-proxy", "istio", "/ebb.dev/ebb drain --sidecar=istio --drain=24s"],
])("an ordinary %s is held up as long as the app is: it gets its stop signal at the same time", (name, _, expected) => {
  const { containers } = changed(beside(name)).spec;
  expect(containers[1]).toEqual({
    ...proxy(name),
    volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev", readOnly: true }],
    lifecycle: { preStop: { exec: { command: expected.split(" ") } } },
  });
});

test("its hook is told what the app's is, by flags", () => {
  const annotations = {
    "ebb.dev/admin": "http://localhost:19000",
    "ebb.dev/min-drain": "7s",
    "ebb.dev/drain.app": "9s",
  };
  const [, { hook: command }] = leavingOf({ ...beside("envoy"), annotations }, [["max-in-flight", "2"]]) as Loose;
  expect(command).toBe(
    "/ebb.dev/ebb drain --sidecar=envoy --admin=http://localhost:19000 --min-drain=7s --max-in-flight=2 --drain=9s",
  );
});

test.each([
  ["true", "--quiet=true --drain=24s"],
  ["false", "--log-level=debug --quiet=false --drain=24s"],
])("its hook has no --log-level beside ebb.dev/quiet: %s, which would refuse that", (quiet, flags) => {
  const annotations = { "ebb.dev/quiet": `${quiet}`, "ebb.dev/log-level": "debug" };
  const [, { hook: command }] = leavingOf({ ...beside("envoy"), annotations }) as Loose;
  expect(command).toBe(`/ebb.dev/ebb drain --sidecar=envoy ${flags}`);
});

test("a plain Envoy's asks at no port that the app declares, when it looks for the admin interface", () => {
  const hookBeside = (name: string) => {
    const containers = [app({ ports: [{ containerPort: 8001 }, { containerPort: 80 }] }), proxy(name)];
    const [, { hook }] = leavingOf({ containers }) as Loose;
    return hook;
  };
  expect(hookBeside("envoy")).toBe("/ebb.dev/ebb drain --sidecar=envoy --app-port=8001 --app-port=80 --drain=24s");
  expect(hookBeside("istio-proxy")).toBe("/ebb.dev/ebb drain --sidecar=istio --drain=24s");
});

test("where several containers drain, it stays for the longest", () => {
  const containers = [app({ name: "a" }), app({ name: "b" }), proxy("envoy")];
  const annotations = { "ebb.dev/drain.a": "3s", "ebb.dev/drain.b": "4s" };
  const [, , { hook: command }] = leavingOf({ containers, annotations }) as Loose;
  expect(command).toEndWith("--drain=4s");
});

test("where ebb run drains, after a hook of the app's own, it stays too", () => {
  const containers = [app({ lifecycle: other }), proxy("envoy")];
  expect(leavingOf({ containers, annotations: { "ebb.dev/drain": "9s" } })).toEqual([
    { hook: "/flush 5", run: "9s" },
    { hook: "/ebb.dev/ebb drain --sidecar=envoy --drain=9s", run: undefined },
  ]);
});

test("beside an app with a hook of its own that does not drain, it drains", () => {
  const containers = [app({ lifecycle: other }), proxy("envoy")];
  expect((leavingOf({ containers }) as Loose)[1].hook).toBe("/ebb.dev/ebb drain --sidecar=envoy --drain=24s");
});

test.each<[string, object, object, string]>([
  ["the app's", { lifecycle: sleep }, {}, "--min-drain=5s --drain=24s"],
  ["its own", {}, { lifecycle: sleep }, "--min-drain=5s --drain=24s"],
  [
    "the longer of both",
    { lifecycle: sleep },
    { lifecycle: { preStop: { sleep: { seconds: 8 } } } },
    "--min-drain=8s --drain=24s",
  ],
  [
    "the app's, which stays because it is too long",
    { lifecycle: { preStop: { sleep: { seconds: 26 } } } },
    {},
    "--min-drain=24s --drain=24s",
  ],
])("in the place of a sleep it accepts for as long: %s", (_, own, more, flags) => {
  const containers = [app(own), proxy("envoy", more)];
  expect((leavingOf({ containers }) as Loose)[1].hook).toBe(`/ebb.dev/ebb drain --sidecar=envoy ${flags}`);
});

test("its own sleep that is longer than the drain makes that longer", () => {
  const given = { ...beside("envoy", { lifecycle: sleep }), annotations: { "ebb.dev/drain": "3s" } };
  expect((leavingOf(given) as Loose)[1].hook).toBe("/ebb.dev/ebb drain --sidecar=envoy --min-drain=5s --drain=5s");
});

test("where the app's container says itself how long it drains, the proxy stays as long", () => {
  const containers = [app({ env: [{ name: "EBB_DRAIN", value: "8s" }] }), proxy("envoy")];
  expect((leavingOf({ containers }) as Loose)[1].hook).toEndWith("--drain=8s");
});

test.each<[string, Given]>([
  ["in a Job", { ...beside("envoy"), spec: { restartPolicy: "Never" }, annotations: { "ebb.dev/drain": "9s" } }],
  ["where nothing drains", { ...beside("envoy"), annotations: { "ebb.dev/drain": "0" } }],
  ["where it has a hook of its own, which does more than sleep", beside("envoy", { lifecycle: other })],
  ["where its own sleep does not fit", beside("envoy", { lifecycle: { preStop: { sleep: { seconds: 25 } } } })],
  [
    "where something is mounted in ebb's place",
    beside("envoy", { volumeMounts: [{ name: "x", mountPath: "/ebb.dev/" }] }),
  ],
  ["that drains by itself: Kuma's", beside("kuma-sidecar")],
  ["that drains by itself: consul-dataplane", beside("consul-dataplane")],
  ["that ebb cannot drain: Linkerd's", beside("linkerd-proxy")],
  [
    "where the app starts an ebb of its own",
    { containers: [app({ command: ["/ebb", "run", "/app"] }), proxy("envoy")], annotations: { "ebb.dev/drain": "9s" } },
  ],
])("a proxy %s stays as it is", (_, given) => {
  const [, was] = given.containers ?? [];
  expect(changed(given).spec.containers[1]).toEqual(was);
});
