import { describe, expect, test } from "bun:test";
import { injectPod, removeFromPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { app, changed, type Given, type Loose, podOf, policy, warnings } from "../injection.ts";

const exec = (...command: readonly string[]) => ({ exec: { command } });
const proxy = (name: string, more: object = {}) => ({ name, image: "registry.example.com/proxy:1", ...more });
const hooked = (name: string, preStop: object) => proxy(name, { lifecycle: { preStop } });
const beside = (one: object, more: Given = {}): Given => ({ ...more, containers: [app(), one] });
/** An app whose command nobody knows. */
const unnamed = (more: object = {}) => app({ command: undefined, ...more });

/** The preStop hook of the last container. */
function hookOf(given: Given, set: readonly (readonly [string, string])[] = []): string | undefined {
  const last = changed(given, { options: new Map(set) }).spec.containers.at(-1) as Loose;
  return last.lifecycle?.preStop?.exec?.command?.join(" ");
}

const mount = { name: "ebb", mountPath: "/ebb.dev", readOnly: true };
const hold = "/ebb.dev/ebb hold --sidecar=envoy";
const other = { preStop: exec("/flush", "5") };

describe("an ordinary proxy is held until the app has ended:", () => {
  test.each([
    ["envoy", hold],
    ["istio-proxy", "/ebb.dev/ebb hold --sidecar=istio"],
    ["cloud-sql-proxy", "/ebb.dev/ebb hold --sidecar=cloud-sql-proxy"],
    ["alloydb-auth-proxy", "/ebb.dev/ebb hold --sidecar=alloydb-auth-proxy"],
  ])("%s", (name, expected) => {
    const given = beside(proxy(name));
    const pod = changed(given);
    expect(pod.spec.containers[1]).toEqual({
      ...proxy(name),
      volumeMounts: [mount],
      lifecycle: { preStop: exec(...expected.split(" ")) },
    });
    expect(warnings(given)).toEqual([]);
    expect(injectPod(pod, policy)).toMatchObject({ kind: "unchanged", reason: "it has ebb already" });
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test.each<[string, Given]>([
    ["in a Job, which may be deleted", beside(proxy("envoy"), { spec: { restartPolicy: "Never" } })],
    ["where nothing drains", beside(proxy("envoy"), { annotations: { "ebb.dev/drain": "0" } })],
    ["without time for a drain", beside(proxy("envoy"), { spec: { terminationGracePeriodSeconds: 1 } })],
    ["whatever the app's own hook", { containers: [app({ lifecycle: other }), proxy("envoy")] }],
    [
      "whatever the app says of its drain",
      { containers: [app({ env: [{ name: "EBB_DRAIN", value: "8s" }] }), proxy("envoy")] },
    ],
    ["beside an app that ebb does not start, too", { containers: [app({ name: "known" }), unnamed(), proxy("envoy")] }],
  ])("%s", (_, given) => {
    expect(hookOf(given)).toBe(hold);
  });

  test("by an ebb that the app's own ebb needs not: it is put into the pod for the proxy alone", () => {
    const { spec } = changed({ containers: [app({ command: ["/ebb", "run", "--", "/app"] }), proxy("envoy")] });
    expect(spec.containers[1]).toMatchObject({
      lifecycle: { preStop: exec(...hold.split(" ")) },
      volumeMounts: [mount],
    });
    expect(spec.containers[0].volumeMounts).toEqual([{ ...mount, name: "ebb-annotations", mountPath: "/etc/podinfo" }]);
    expect([spec.initContainers[0].name, spec.volumes[0].name]).toEqual(["ebb-install", "ebb"]);
  });

  test("where it is, and what the log is like, it is told by flags; nothing of a drain", () => {
    const annotations = { "ebb.dev/admin": "http://localhost:19000", "ebb.dev/min-drain": "7s", "ebb.dev/drain": "9s" };
    const set = [
      ["max-in-flight", "2"],
      ["log-level", "debug"],
      ["log-format", "text"],
    ] as const;
    expect(hookOf(beside(proxy("envoy"), { annotations }), set)).toBe(
      `${hold} --admin=http://localhost:19000 --log-level=debug --log-format=text`,
    );
  });

  test.each([
    ["true", "--quiet=true"],
    ["false", "--log-level=debug --quiet=false"],
  ])("without --log-level beside ebb.dev/quiet: %s, which would refuse that", (quiet, flags) => {
    const annotations = { "ebb.dev/quiet": `${quiet}`, "ebb.dev/log-level": "debug" };
    expect(hookOf(beside(proxy("envoy"), { annotations }))).toBe(`${hold} ${flags}`);
  });

  test("a database proxy's is told nothing of an Envoy", () => {
    const annotations = { "ebb.dev/admin": "http://localhost:19000", "ebb.dev/log-level": "debug" };
    const db = proxy("cloud-sql-proxy", { args: ["--admin-port=9092"] });
    expect(hookOf({ containers: [app(), proxy("envoy"), db], annotations })).toBe(
      "/ebb.dev/ebb hold --sidecar=cloud-sql-proxy:9092 --log-level=debug",
    );
  });

  test("a plain Envoy's asks at no port that the app declares, when it looks for the admin interface", () => {
    const ported = app({ ports: [{ containerPort: 8001 }, { containerPort: 80 }] });
    expect(hookOf({ containers: [ported, proxy("envoy")] })).toBe(`${hold} --app-port=8001 --app-port=80`);
    expect(hookOf({ containers: [ported, proxy("istio-proxy")] })).toBe("/ebb.dev/ebb hold --sidecar=istio");
  });
});

describe("a hook of the proxy's own", () => {
  const field = "spec.containers[1].lifecycle.preStop";
  const loop = "while [ $(netstat -plunt | grep tcp | grep -v envoy | wc -l | xargs) -ne 0 ]; do sleep 1; done";

  test.each<[string, object, string]>([
    ["that sleeps", exec("sleep", "15"), 'replaced "sleep 15" by ebb hold --sidecar=istio'],
    ["that sleeps for longer than any drain", { sleep: { seconds: 600 } }, 'replaced "sleep 600" by ebb hold'],
    ["that waits until only Envoy listens", exec("/bin/sh", "-c", loop), "replaced the loop that waits until"],
  ])("%s is replaced by the hold, and comes back", (_, preStop, message) => {
    const given = beside(hooked("istio-proxy", preStop));
    const pod = changed(given);
    expect(pod.spec.containers[1].lifecycle.preStop).toEqual(exec("/ebb.dev/ebb", "hold", "--sidecar=istio"));
    expect(warnings(given)).toEqual([[field, expect.stringContaining(message)]]);
    expect(injectPod(pod, policy).kind).toBe("unchanged");
    expect(removeFromPod(pod)).toMatchObject({ kind: "removed", pod: podOf(given) });
  });

  test.each<[string, object, string | undefined]>([
    ["that holds", exec("/ebb", "hold"), undefined],
    ["that drains", exec("/ebb", "drain"), "it stays, and the proxy may end before the app"],
    ["that does more", exec("/flush"), "it stays, and the proxy may end before the app"],
    ["that asks a sidecar", exec("curl", "-XPOST", "localhost:15000/drain_listeners"), "it asks a sidecar at /drain_l"],
  ])("%s stays, which is said", (_, preStop, message) => {
    const given = beside(hooked("istio-proxy", preStop));
    expect(changed(given).spec.containers[1]).toEqual(hooked("istio-proxy", preStop));
    const said =
      message === undefined
        ? []
        : [[field, expect.stringMatching(new RegExp(`^${message}.*ebb hold takes its place$`))]];
    expect(warnings(given)).toEqual(said as never);
  });
});

describe("a proxy drains for as long as the app's hook", () => {
  const drain = "/ebb.dev/ebb drain --sidecar=envoy";
  const onNode = { hostNetwork: true };
  const sleep = { preStop: exec("sleep", "5") };
  const besideHook = (one: object, more: object = {}): Given => ({ containers: [unnamed(more), one] });

  test.each<[string, Given]>([
    ["where ebb does not start the app", besideHook(proxy("envoy"))],
    ["where ebb leaves sidecars alone", { containers: [app({ command: ["scuttle", "/app"] }), proxy("envoy")] }],
    ["where ebb becomes the app", { containers: [app({ command: ["valet", "/app"] }), proxy("envoy")] }],
    ["if nobody is to hold for ebb run", beside(proxy("envoy"), { annotations: { "ebb.dev/no-hold": "true" } })],
  ])("%s", (_, given) => {
    expect(hookOf(given)).toBe(`${drain} --drain=24s`);
  });

  test("on the node's network, where ebb run is not seen", () => {
    const annotations = { "ebb.dev/sidecar": "envoy:9911" };
    expect(hookOf(beside(proxy("envoy"), { spec: onNode, annotations }))).toBe(`${drain}:9911 --drain=24s`);
  });

  test("its hook is told what the app's is, by flags", () => {
    const annotations = {
      "ebb.dev/admin": "http://localhost:19000",
      "ebb.dev/min-drain": "7s",
      "ebb.dev/drain.app": "9s",
    };
    expect(hookOf({ ...besideHook(proxy("envoy")), annotations }, [["max-in-flight", "2"]])).toBe(
      `${drain} --admin=http://localhost:19000 --min-drain=7s --max-in-flight=2 --drain=9s`,
    );
  });

  test("of several it is the longest", () => {
    const containers = [unnamed({ name: "a" }), unnamed({ name: "b" }), proxy("envoy")];
    const annotations = { "ebb.dev/drain.a": "3s", "ebb.dev/drain.b": "4s" };
    expect(hookOf({ containers, annotations })).toEndWith("--drain=4s");
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
    expect(hookOf(besideHook(proxy("envoy", more), own))).toBe(`${drain} ${flags}`);
  });

  test("its own sleep that is longer than the drain makes that longer", () => {
    const given = { ...besideHook(proxy("envoy", { lifecycle: sleep })), annotations: { "ebb.dev/drain": "3s" } };
    expect(hookOf(given)).toBe(`${drain} --min-drain=5s --drain=5s`);
  });

  test("another hook of its own stays, which is said", () => {
    const given = besideHook(proxy("envoy", { lifecycle: other }));
    expect(warnings(given)).toContainEqual([
      "spec.containers[1].lifecycle.preStop",
      expect.stringContaining("nothing drains"),
    ]);
  });

  test.each<[string, Given]>([
    [
      "where nothing drains",
      besideHook(proxy("envoy"), { command: ["valet", "/app"], env: [{ name: "EBB_DRAIN", value: "0" }] }),
    ],
    [
      "in a Job",
      { containers: [app({ command: ["valet", "/app"] }), proxy("envoy")], spec: { restartPolicy: "Never" } },
    ],
    [
      "where its own sleep does not fit",
      besideHook(proxy("envoy", { lifecycle: { preStop: { sleep: { seconds: 25 } } } })),
    ],
    [
      "where no sidecar is wanted",
      {
        containers: [
          app({
            env: [
              { name: "EBB_SIDECAR", value: "none" },
              { name: "EBB_DRAIN", value: "0" },
            ],
          }),
          proxy("envoy"),
        ],
      },
    ],
  ])("or stays as it is: %s", (_, given) => {
    expect(changed(given).spec.containers.at(-1)).toEqual(given.containers?.at(-1) as never);
  });
});

test.each<[string, Given]>([
  [
    "where something is mounted in ebb's place",
    beside(proxy("envoy", { volumeMounts: [{ name: "x", mountPath: "/ebb.dev/" }] })),
  ],
  ["that drains by itself: Kuma's", beside(proxy("kuma-sidecar"))],
  ["that drains by itself: consul-dataplane", beside(proxy("consul-dataplane"))],
  ["that ebb cannot drain: Linkerd's", beside(proxy("linkerd-proxy"))],
  [
    "that ebb cannot drain, beside an app that ebb does not start",
    { containers: [unnamed(), proxy("cloud-sql-proxy")] },
  ],
  ["with a delay of its own", beside(proxy("cloud-sql-proxy", { args: ["--min-sigterm-delay", "20s"] }))],
])("a proxy %s stays as it is", (_, given) => {
  expect(changed(given).spec.containers[1]).toEqual((given.containers ?? [])[1]);
});
