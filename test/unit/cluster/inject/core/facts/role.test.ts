import { describe, expect, test } from "bun:test";
import { sidecarIn } from "../../../../../../src/cluster/core/containers.ts";
import { injectPod } from "../../../../../../src/cluster/inject/core/inject-pod.ts";
import { named } from "../chosen.ts";
import { app, changed, type Loose, policy, refusal, warnings } from "../injection.ts";

/** The commands of a changed pod, by container. */
function commandsOf(pod: Loose): Record<string, readonly string[]> {
  return Object.fromEntries(pod.spec.containers.map(({ name, command }: Loose) => [name, command]));
}

test("all containers but the sidecars are started by ebb; init containers, native sidecars and ephemeral ones are left alone", () => {
  const initContainers = [
    named("setup"),
    named("istio-proxy", { restartPolicy: "Always" }),
    named("helper", { restartPolicy: "Always" }),
  ];
  const ephemeralContainers = [named("debugger")];
  const containers = [named("a"), named("linkerd-proxy"), named("b")];
  const { spec } = changed({ containers, spec: { initContainers, ephemeralContainers } });
  expect(spec.containers.map(({ command }: Loose) => command[0])).toEqual(["/ebb.dev/ebb", "/app", "/ebb.dev/ebb"]);
  expect(spec.containers[1]).toEqual(containers[1]);
  expect(spec.initContainers.slice(1)).toEqual(initContainers);
  expect(spec.ephemeralContainers).toEqual(ephemeralContainers);
});

test.each<[string, string | undefined, string | undefined]>([
  ["istio-proxy", undefined, "istio"],
  ["proxy", "gcr.io/istio-release/proxyv2:1.29", "istio"],
  ["envoy", undefined, "envoy"],
  ["proxy", "docker.io/envoyproxy/envoy:v1.31", "envoy"],
  ["proxy", "registry.example.com:5000/envoyproxy/envoy-distroless:v1@sha256:00", "envoy"],
  ["linkerd-proxy", undefined, "linkerd"],
  ["kuma-sidecar", undefined, "kuma"],
  ["consul-dataplane", undefined, "consul"],
  ["consul-dataplane-web", undefined, "consul"],
  ["daprd", undefined, "dapr"],
  ["vault-agent", undefined, "vault-agent"],
  ["cloud-sql-proxy", undefined, "cloud-sql-proxy"],
  ["cloudsql-proxy", undefined, "cloud-sql-proxy"],
  ["csql-default-db", undefined, "cloud-sql-proxy"],
  ["csql-default-db", "mirror.example.com/csql-proxy:2", "cloud-sql-proxy"],
  ["csql-export", "postgres:16", undefined],
  ["csql-migrate", "example.com/cloud-sql-proxy/flyway:10", undefined],
  ["db", "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.11", "cloud-sql-proxy"],
  ["app", "registry.example.com/envoy-control:1", undefined],
  ["my-envoy-app", "envoy/app", undefined],
  ["app", "envoy:5000/app", undefined],
  ["app", undefined, undefined],
])("a container %s of the image %s: %s", (name, image, sidecar) => {
  expect(sidecarIn(name, image) as string | undefined).toBe(sidecar);
});

test("sidecars of other kinds are not started either", () => {
  const { app: first, ...rest } = commandsOf(
    changed({ containers: [app(), named("otc-container"), named("xray-daemon")] }),
  );
  expect(first?.[0]).toBe("/ebb.dev/ebb");
  expect(Object.values(rest).map(([path]) => path)).toEqual(["/app", "/app"]);
});

test("a sidecar is known by its image, too", () => {
  const proxy = named("proxy", { image: "envoyproxy/envoy:v1.31", lifecycle: { preStop: {} } });
  expect(changed({ containers: [app(), proxy] }).spec.containers[1]).toEqual(proxy);
});

test("ebb.dev/sidecars names others that are no apps", () => {
  const annotations = { "ebb.dev/sidecars": "metrics", "ebb.dev/native": "false" };
  const pod = changed({ containers: [app(), named("metrics")], annotations });
  expect(Object.values(commandsOf(pod)).map(([path]) => path)).toEqual(["/ebb.dev/ebb", "/app"]);
});

test("ebb.dev/apps names apps that look like sidecars, beside the other apps", () => {
  const containers = [named("a"), named("istio-proxy"), named("envoy")];
  const pod = changed({ containers, annotations: { "ebb.dev/apps": "a, envoy" } });
  expect(Object.values(commandsOf(pod)).map(([path]) => path)).toEqual(["/ebb.dev/ebb", "/app", "/ebb.dev/ebb"]);
});

test("what is wrong is told all at once", () => {
  const annotations = { "ebb.dev/apps": "a,c", "ebb.dev/drain": "soon", "ebb.dev/grace.x": "5s" };
  const mounts = { volumeMounts: [{ name: "tools", mountPath: "/ebb.dev/tools" }] };
  const fields = refusal({ annotations, containers: [named("a", mounts), named("b")] }).map(([field]) => field);
  expect(fields.toSorted()).toEqual([
    "metadata.annotations[ebb.dev/apps]",
    "metadata.annotations[ebb.dev/drain]",
    "metadata.annotations[ebb.dev/grace.x]",
    "spec.containers[0].volumeMounts[0].mountPath",
  ]);
});

// Commands

test.each<[string, readonly string[], readonly string[]]>([
  ["an app", ["/app", "-v"], ["/ebb.dev/ebb", "run", "--", "/app", "-v"]],
  ["a shell", ["sh", "-c", "scuttle app"], ["/ebb.dev/ebb", "run", "--", "sh", "-c", "scuttle app"]],
  ["tini, which stays", ["/sbin/tini", "--", "/app"], ["/ebb.dev/ebb", "run", "--", "/sbin/tini", "--", "/app"]],
  ["a flag as its name", ["--help"], ["/ebb.dev/ebb", "run", "--", "--help"]],
  ["scuttle, whose place ebb takes", ["scuttle", "/app"], ["/ebb.dev/ebb", "scuttle", "/app"]],
  ["envoy-preflight in a folder", ["/usr/bin/envoy-preflight", "/app"], ["/ebb.dev/ebb", "envoy-preflight", "/app"]],
  [
    "linkerd-await with its flags",
    ["linkerd-await", "-S", "--", "x"],
    ["/ebb.dev/ebb", "linkerd-await", "-S", "--", "x"],
  ],
  ["valet", ["valet", "x"], ["/ebb.dev/ebb", "valet", "x"]],
  ["pilot-agent, which is no wrapper", ["pilot-agent", "wait"], ["/ebb.dev/ebb", "run", "--", "pilot-agent", "wait"]],
])("a command that starts %s", (_, command, expected) => {
  const [container] = changed({ containers: [app({ command, args: ["$(X)"] })] }).spec.containers;
  expect([container.command, container.args]).toEqual([expected, ["$(X)"]]);
});

test("a tool's variables stay", () => {
  const env = [
    { name: "ENVOY_ADMIN_API", value: "http://127.0.0.1:15000" },
    { name: "NEVER_KILL_ISTIO", value: "true" },
  ];
  const [container] = changed({ containers: [app({ command: ["scuttle", "/app"], env })] }).spec.containers;
  expect(container.env.slice(0, 2)).toEqual(env);
});

describe("a container whose whole command asks a sidecar to quit", () => {
  const script = "curl -X POST localhost:15020/quitquitquit";
  const quitter = named("quitter", { command: ["/bin/sh", "-c", script] });
  const job = { restartPolicy: "Never", shareProcessNamespace: true };

  test.each<[string, object]>([
    ["as command", quitter],
    ["as arguments, without a command", { name: "quitter", args: ["sh", "-c", script] }],
  ])("is no app, and a warning names it: %s", (_, container) => {
    const given = { containers: [app(), container], spec: job };
    expect(changed(given).spec.containers[1]).toEqual(container);
    expect(warnings(given)).toEqual([
      [
        "spec.containers[1]",
        expect.stringMatching(/^remove "quitter": it only asks .* \(\/quitquitquit\), which ebb already does$/),
      ],
    ]);
  });

  test("is one where ebb.dev/apps names it", () => {
    const given = { containers: [app(), quitter], spec: job, annotations: { "ebb.dev/apps": "app,quitter" } };
    expect(commandsOf(changed(given))).toEqual({
      app: ["/ebb.dev/ebb", "run", "--", "/app", "serve"],
      quitter: ["/ebb.dev/ebb", "run", "--", "/bin/sh", "-c", script],
    });
    expect(warnings(given)).toEqual([]);
  });

  test("makes no pod with --all", () => {
    const pod = { spec: { ...job, containers: [quitter] } };
    expect(injectPod(pod, { ...policy, all: true })).toMatchObject({ reason: "it has only sidecars" });
  });
});
