import { describe, expect, test } from "bun:test";
import { sidecarIn } from "../../../../../src/cluster/core/containers.ts";
import {
  type Allowed,
  describeMethod,
  type Ending,
  endingOf,
  type MethodKind,
  methodKinds,
} from "../../../../../src/cluster/reaper/core/methods.ts";
import { type ContainerView, viewOf } from "../../../../../src/cluster/reaper/core/pod-view.ts";
import { ending } from "./stuck-methods.ts";
import { ended, type Json, type PodInWords, podOf, running } from "./stuck-pods.ts";

test.each<[string, string, Partial<PodInWords>, readonly MethodKind[], string]>([
  [
    "that takes quits at another host alone",
    "csql-a",
    {
      containers: {
        "csql-a": { state: running, spec: { image: "cloud-sql-proxy:2" } },
        app: { state: ended(0), spec: { env: [{ name: "CSQL_PROXY_QUIT_URLS", value: "http://example.com/quit" }] } },
      },
    },
    methodKinds,
    "none of the allowed methods",
  ],
  ["of which nothing is known", "fluent-bit", {}, methodKinds, "ebb does not know how to end fluent-bit"],
  [
    "with ebb in it, of which nothing is known",
    "fluent-bit",
    {
      containers: {
        "fluent-bit": { state: running, spec: { volumeMounts: [{ name: "ebb", mountPath: "/ebb.dev" }] } },
      },
    },
    methodKinds,
    "ebb does not know how to end fluent-bit",
  ],
  [
    "that what is allowed does not end",
    "linkerd-proxy",
    {},
    ["exec"],
    "none of the allowed methods (exec) ends linkerd-proxy",
  ],
  [
    "on the node's network",
    "istio-proxy",
    { spec: { hostNetwork: true } },
    methodKinds,
    "on its node's network, where a port may be another pod's: say how with the annotation ebb.dev/reap-exec.istio-proxy",
  ],
  [
    "with a command that is none",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-exec.istio-proxy": '["/stop' } },
    methodKinds,
    'ebb.dev/reap-exec.istio-proxy: expected a command line such as ["/bin/app", "--stop"], got',
  ],
  [
    "with a request to elsewhere",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-quit.istio-proxy": "http://example.com/quit" } },
    methodKinds,
    "ebb.dev/reap-quit.istio-proxy: expected a URL on the pod's loopback",
  ],
  [
    "with a request over TLS",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-quit.istio-proxy": "https://localhost/quit" } },
    methodKinds,
    "expected a URL on the pod's loopback",
  ],
  [
    "with no time at all",
    "istio-proxy",
    { annotations: { "ebb.dev/reap-patience.istio-proxy": "0s" } },
    methodKinds,
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
  const meansOf = (got: Ending | string) => (typeof got === "string" ? [] : got.methods);

  test("is handed to an ephemeral container as the pod has it: the reaper reads no Secret", () => {
    const methods = meansOf(ending("daprd", withToken(secret)));
    expect(methods.find(({ kind }) => kind === "ephemeral")).toMatchObject({ env: [secret] });
  });

  test("goes with the request, and is not described", () => {
    const methods = meansOf(ending("daprd", withToken({ name: "DAPR_API_TOKEN", value: "s3cret" })));
    expect(methods[0]).toMatchObject({ requests: [{ headers: [["dapr-api-token", "s3cret"]] }] });
    expect(methods.map(describeMethod).join()).not.toContain("s3cret");
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

test.each<[string, Partial<PodInWords>, boolean]>([
  ["envoy", {}, true],
  ["envoy", { spec: { hostNetwork: true }, annotations: { "ebb.dev/reap-exec.envoy": "/stop" } }, false],
  ["fluent-bit", { annotations: { "ebb.dev/reap-exec.fluent-bit": "/stop" } }, false],
])("%s with %j: an image would allow one more method? %p", (name, more, isMore) => {
  const pod = viewOf(podOf({ ...more, containers: { app: ended(0), [name]: running } }));
  const container = pod.containers.find((each) => each.name === name) as ContainerView;
  const allowed: Allowed = { pod, allowed: ["exec", "port-forward"], allowsReapExec: true };
  const ending = (lacksImage: boolean) => endingOf(container, sidecarIn(name, undefined), { ...allowed, lacksImage });
  expect(Object.hasOwn(ending(true) as Ending, "lacksImage")).toBe(isMore);
  expect(Object.hasOwn(ending(false) as Ending, "lacksImage")).toBe(false);
});
