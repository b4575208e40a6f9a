import { describe, expect, test } from "bun:test";
import { describeMeans, type Ending, endingOf, type MeansKind, meansKinds } from "../../../src/core/reap/means.ts";
import { viewOf } from "../../../src/core/reap/pod-view.ts";
import { sidecarIn } from "../../../src/core/sidecars/containers.ts";
import { ended, type Json, type PodInWords, podOf, running } from "./stuck-pods.ts";

/** How the container of this name is ended, in a pod with it and more. */
function ending(
  name: string,
  more: Partial<PodInWords> = {},
  allowed: readonly MeansKind[] = meansKinds,
  allowsReapExec = true,
): Ending | string {
  const pod = viewOf(podOf({ ...more, containers: { app: ended(0), [name]: running, ...more.containers } }));
  const container = pod.containers.find((each) => each.name === name);
  return container === undefined
    ? "no such container"
    : endingOf(container, sidecarIn(name, container.image), { pod, allowed, image: "ebb:1", allowsReapExec });
}

/** In words, with the means in their order. */
function told(got: Ending | string): readonly string[] {
  return typeof got === "string" ? [got] : got.means.map(describeMeans);
}

describe("a container of the reaper's that is in the pod already", () => {
  const args = ["quit", "--sidecar", "envoy", "--quit-timeout", "30s"];
  const blocked = { waiting: { reason: "CreateContainerConfigError", message: "image will\nrun as root" } };
  const withOwn = (state: Json, spec: Json = {}) =>
    ending("envoy", { ephemeralContainers: { "ebb-reaper-1": { state, spec: { image: "ebb:1", args, ...spec } } } }, [
      "ephemeral",
    ]);

  test.each<[string, Json, string]>([
    [
      "does not start",
      blocked,
      "ephemeral container ebb-reaper-1 does not start: CreateContainerConfigError: image will run as root",
    ],
    ["is not pulled", { waiting: { reason: "ImagePullBackOff" } }, "does not start: ImagePullBackOff"],
    ["has failed", ended(69), "ephemeral container ebb-reaper-1 has ended with 69: Error"],
  ])("is not put there once more where it %s", (_, state, reason) => {
    expect(withOwn(state)).toContain(reason);
  });

  test.each<[string, Json, Json]>([
    ["has done what it could", ended(0), {}],
    ["was of another image", blocked, { image: "ebb:0" }],
    ["was for another sidecar", blocked, { args: ["quit", "--sidecar", "dapr", "--quit-timeout", "30s"] }],
    ["was told where to quit", blocked, { args: [...args.slice(0, 3), "--quit", "http://localhost:1/quit"] }],
  ])("does not keep another one out where it %s", (_, state, spec) => {
    expect(told(withOwn(state, spec))).toEqual(["ephemeral container: ebb quit --sidecar envoy"]);
  });
});

describe("a command that the pod names is not run", () => {
  const annotations = { "ebb.dev/reap-exec.envoy": '["/stop"]' };

  test("unless the reaper was told to", () => {
    expect(ending("envoy", { annotations }, meansKinds, false)).toBe(
      "ebb.dev/reap-exec.envoy is not followed: this reaper runs without --allow-reap-exec",
    );
    expect(told(ending("envoy", { annotations }))).toContain("exec in envoy: /stop");
  });

  test("in a privileged container, which has the node", () => {
    const envoy = { state: running, spec: { securityContext: { privileged: true } } };
    expect(ending("envoy", { annotations, containers: { envoy } })).toContain("not followed: envoy is privileged");
  });
});

describe("a sidecar is ended by", () => {
  const withEbb = {
    "istio-proxy": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
  };
  const istio = [
    "exec in istio-proxy: pilot-agent request POST quitquitquit",
    "port-forward: POST :15020/quitquitquit",
    "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:15020/quitquitquit",
  ];

  test.each<[string, string, Partial<PodInWords>, readonly string[]]>([
    ["its own command, its port, or ebb put into the pod", "istio-proxy", {}, istio],
    [
      "ebb in it, before its own command",
      "istio-proxy",
      { containers: withEbb },
      [
        "exec in istio-proxy: /ebb.dev/ebb quit --sidecar istio --quit POST http://localhost:15020/quitquitquit",
        ...istio,
      ],
    ],
    [
      "the port that its pod has moved it to",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "16020" } },
      [
        istio[0] as string,
        "port-forward: POST :16020/quitquitquit",
        "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:16020/quitquitquit",
      ],
    ],
    [
      "its Envoy's own quit, where its pod has closed that port",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "0" } },
      [
        istio[0] as string,
        "port-forward: POST :15000/quitquitquit",
        "ephemeral container: ebb quit --sidecar istio --quit POST http://localhost:15000/quitquitquit",
      ],
    ],
    [
      "no other host that its pod may name",
      "istio-proxy",
      { annotations: { "status.sidecar.istio.io/port": "1@example.com" } },
      istio,
    ],
    [
      "ebb in it, which has its token there",
      "daprd",
      { containers: { daprd: { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } } } },
      [
        "exec in daprd: /ebb.dev/ebb quit --sidecar dapr",
        "port-forward: POST :3500/v1.0/shutdown",
        "ephemeral container: ebb quit --sidecar dapr",
      ],
    ],
    [
      "its port, where its image has no command for it",
      "linkerd-proxy",
      {},
      [
        "port-forward: POST :4191/shutdown",
        "ephemeral container: ebb quit --sidecar linkerd --quit POST http://localhost:4191/shutdown",
      ],
    ],
    [
      "ebb, which looks for an Envoy's admin interface where its usual port is closed",
      "envoy",
      {},
      ["port-forward: POST :9901/quitquitquit", "ephemeral container: ebb quit --sidecar envoy"],
    ],
    [
      "the admin port that its annotation names",
      "kuma-sidecar",
      { annotations: { "kuma.io/envoy-admin-port": "9911" } },
      [
        "port-forward: POST :9911/quitquitquit",
        "ephemeral container: ebb quit --sidecar kuma --quit POST http://localhost:9911/quitquitquit",
      ],
    ],
    [
      "the request that its pod names, even if that is the usual one",
      "envoy",
      { annotations: { "ebb.dev/reap-quit.envoy": "http://localhost:9901/quitquitquit" } },
      [
        "port-forward: POST :9901/quitquitquit",
        "ephemeral container: ebb quit --sidecar envoy --quit POST http://localhost:9901/quitquitquit",
      ],
    ],
    [
      "each port of several services",
      "consul-dataplane-a",
      { annotations: { "consul.hashicorp.com/connect-service": "a,b" } },
      [
        "port-forward: POST :19000/quitquitquit, POST :19001/quitquitquit",
        "ephemeral container: ebb quit --sidecar consul --quit POST http://localhost:19000/quitquitquit --quit POST http://localhost:19001/quitquitquit",
      ],
    ],
    [
      "the port that its variable tells the app",
      "daprd",
      { containers: { app: { state: ended(0), spec: { env: [{ name: "DAPR_HTTP_PORT", value: "3600" }] } } } },
      ["port-forward: POST :3600/v1.0/shutdown", "ephemeral container: ebb quit --sidecar dapr"],
    ],
    [
      "the Cloud SQL Auth Proxy's own command",
      "cloud-sql-proxy",
      {},
      [
        "exec in cloud-sql-proxy: /cloud-sql-proxy shutdown --admin-port 9091",
        "port-forward: POST :9091/quitquitquit",
        "ephemeral container: ebb quit --sidecar cloud-sql-proxy --quit POST http://localhost:9091/quitquitquit",
      ],
    ],
    [
      "the command that the pod gives, before all else",
      "istio-proxy",
      { annotations: { "ebb.dev/reap-exec.istio-proxy": '["/stop", "now please"]' } },
      ["exec in istio-proxy: /stop ...", ...istio.slice(1)],
    ],
    [
      "the request that the pod gives, instead of its own",
      "istio-proxy",
      { annotations: { "ebb.dev/reap-quit.istio-proxy": "PUT http://127.0.0.1:7/bye?now" } },
      [
        "port-forward: PUT :7/bye?now",
        "ephemeral container: ebb quit --sidecar istio --quit PUT http://127.0.0.1:7/bye?now",
      ],
    ],
    [
      "the request that the pod gives, though ebb does not know it",
      "fluent-bit",
      { annotations: { "ebb.dev/reap-quit.fluent-bit": "http://localhost:2020/quit" } },
      [
        "port-forward: POST :2020/quit",
        "ephemeral container: ebb quit --sidecar none --quit POST http://localhost:2020/quit",
      ],
    ],
    [
      "ebb in it by the request that the pod gives, though ebb does not know it",
      "fluent-bit",
      {
        annotations: { "ebb.dev/reap-quit.fluent-bit": "http://localhost:2020/quit" },
        containers: {
          "fluent-bit": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
        },
      },
      [
        "exec in fluent-bit: /ebb.dev/ebb quit --sidecar none --quit POST http://localhost:2020/quit",
        "port-forward: POST :2020/quit",
        "ephemeral container: ebb quit --sidecar none --quit POST http://localhost:2020/quit",
      ],
    ],
    [
      "its ports alone, where there are several of its kind",
      "csql-a",
      {
        containers: {
          app: {
            state: ended(0),
            spec: {
              env: [
                {
                  name: "CSQL_PROXY_QUIT_URLS",
                  value: "http://localhost:9091/quitquitquit http://localhost:9092/quitquitquit",
                },
                { value: "x" },
                { name: "y" },
              ],
            },
          },
        },
      },
      [
        "port-forward: POST :9091/quitquitquit, POST :9092/quitquitquit",
        "ephemeral container: ebb quit --sidecar cloud-sql-proxy --quit POST http://localhost:9091/quitquitquit --quit POST http://localhost:9092/quitquitquit",
      ],
    ],
    [
      "a command alone on the node's network, where the ports may be other pods'",
      "istio-proxy",
      { spec: { hostNetwork: true }, annotations: { "ebb.dev/reap-exec.istio-proxy": "/stop" } },
      ["exec in istio-proxy: /stop"],
    ],
    [
      "no more ephemeral containers than five",
      "linkerd-proxy",
      { ephemeralContainers: Object.fromEntries([1, 2, 3, 4, 5].map((each) => [`ebb-reaper-${each}`, ended(1)])) },
      ["port-forward: POST :4191/shutdown"],
    ],
  ])("%s", (_, name, more, means) => {
    expect(told(ending(name, more))).toEqual([...means]);
  });

  test("what is allowed, in that order", () => {
    expect(told(ending("istio-proxy", {}, ["ephemeral", "exec"]))).toEqual([istio[2] as string, istio[0] as string]);
  });
});

test.each<[string, string, Partial<PodInWords>, readonly MeansKind[], string]>([
  [
    "that takes quits at another host alone",
    "csql-a",
    {
      containers: {
        app: { state: ended(0), spec: { env: [{ name: "CSQL_PROXY_QUIT_URLS", value: "http://example.com/quit" }] } },
      },
    },
    meansKinds,
    "none of the allowed means",
  ],
  ["of which nothing is known", "fluent-bit", {}, meansKinds, "ebb does not know how fluent-bit is ended"],
  [
    "with ebb in it, of which nothing is known",
    "fluent-bit",
    {
      containers: {
        "fluent-bit": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
      },
    },
    meansKinds,
    "ebb does not know how fluent-bit is ended",
  ],
  [
    "that what is allowed does not end",
    "linkerd-proxy",
    {},
    ["exec"],
    "none of the allowed means (exec) ends linkerd-proxy",
  ],
  [
    "on the node's network",
    "istio-proxy",
    { spec: { hostNetwork: true } },
    meansKinds,
    "on the node's network, where ports may be other pods': say how with the annotation ebb.dev/reap-exec.istio-proxy",
  ],
  [
    "with a command that is none",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-exec.istio-proxy": '["/stop' } },
    meansKinds,
    'ebb.dev/reap-exec.istio-proxy: expected a command line such as ["/bin/app", "--stop"], got',
  ],
  [
    "with a request to elsewhere",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-quit.istio-proxy": "http://example.com/quit" } },
    meansKinds,
    "ebb.dev/reap-quit.istio-proxy: expected a URL on the pod's loopback",
  ],
  [
    "with a request over TLS",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-quit.istio-proxy": "https://localhost/quit" } },
    meansKinds,
    "expected a URL on the pod's loopback",
  ],
  [
    "with no time at all",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-patience.istio-proxy": "0s" } },
    meansKinds,
    "ebb.dev/reap-patience.istio-proxy: expected a duration above 0, such as 5s, got",
  ],
])("a sidecar %s is not ended, and the reason says what to do", (_, name, more, allowed, reason) => {
  expect(ending(name, more, allowed)).toEqual(expect.stringContaining(reason));
});

describe("a token", () => {
  const secret = { name: "DAPR_API_TOKEN", valueFrom: { secretKeyRef: { name: "dapr", key: "token" } } };
  const withToken = (token: Json): Partial<PodInWords> => ({
    containers: { daprd: { state: running, spec: { env: [{ name: "OTHER", value: "x" }, token] } } },
  });
  const meansOf = (got: Ending | string) => (typeof got === "string" ? [] : got.means);

  test("is handed to an ephemeral container as the pod has it: the reaper reads no Secret", () => {
    const means = meansOf(ending("daprd", withToken(secret)));
    expect(means.find(({ kind }) => kind === "ephemeral")).toMatchObject({ env: [secret] });
  });

  test("goes with the request, and is not described", () => {
    const means = meansOf(ending("daprd", withToken({ name: "DAPR_API_TOKEN", value: "s3cret" })));
    expect(means[0]).toMatchObject({ requests: [{ headers: [["dapr-api-token", "s3cret"]] }] });
    expect(means.map(describeMeans).join()).not.toContain("s3cret");
  });
});

test.each<[string, Json, number]>([
  ["istio-proxy", {}, 30_000],
  ["linkerd-proxy", {}, 150_000],
  ["consul-dataplane", {}, 60_000],
  [
    "consul-dataplane",
    { "consul.hashicorp.com/sidecar-proxy-lifecycle-shutdown-grace-period-seconds": "100" },
    130_000,
  ],
  ["daprd", { "dapr.io/graceful-shutdown-seconds": "soon" }, 65_000],
  ["linkerd-proxy", { "ebb.dev/reap-patience.linkerd-proxy": "5m" }, 300_000],
  ["linkerd-proxy", { "ebb.dev/reap-patience.other": "5m" }, 150_000],
])("%s with %j has so long to go", (name, annotations, patienceMs) => {
  expect(ending(name, { annotations })).toMatchObject({ patienceMs });
});
