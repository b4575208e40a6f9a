import { describe, expect, test } from "bun:test";
import { detect } from "../../../../../src/shared/sidecars/core/detect.ts";
import type { PortFinding } from "../../../../../src/shared/sidecars/core/identify.ts";
import { found, istioNative, istioStatus, linkerdVersion, type Pod, type Table } from "./detected.ts";

describe("a variable that names a sidecar comes before all else", () => {
  const everythingElse: Pod = {
    annotations: { ...linkerdVersion, "sidecar.istio.io/status": istioStatus },
    listening: [4191, 9901, 15021],
  };

  test.each<[string, Pod, string, string]>([
    ["Istio's quit", { env: { ISTIO_QUIT_API: "http://127.0.0.1:15020" } }, "istio", "ISTIO_QUIT_API"],
    [
      "Istio's quit, also beside an admin interface",
      { env: { ISTIO_QUIT_API: "http://127.0.0.1:15020", ENVOY_ADMIN_API: "x" }, admin: "http://h:9901" },
      "istio",
      "ISTIO_QUIT_API",
    ],
    ["Istio's admin port", { admin: "http://127.0.0.1:15000" }, "istio", "--admin"],
    [
      "Istio's admin port in a variable",
      { env: { ENVOY_ADMIN_API: "http://127.0.0.1:15000" }, admin: "http://127.0.0.1:15000" },
      "istio",
      "ENVOY_ADMIN_API",
    ],
    ["another admin port", { admin: "http://127.0.0.1:9901" }, "envoy", "--admin"],
    ["an admin socket", { admin: "unix:/admin.sock" }, "envoy", "--admin"],
    ["an admin interface and a kill URL", { env: { ENVOY_KILL_API: "x" }, admin: "http://h:1" }, "envoy", "--admin"],
    ["a kill URL", { env: { ENVOY_KILL_API: "http://127.0.0.1:15020/q" } }, "envoy", "ENVOY_KILL_API"],
  ])("%s", (_, pod, names, by) => {
    expect(found({ ...everythingElse, ...pod })).toEqual([names, by]);
  });

  test("but an empty one says nothing", () => {
    const env = { ISTIO_QUIT_API: "", ENVOY_KILL_API: "", ENVOY_ADMIN_API: "" };
    expect(found({ env })).toEqual(["", "nothing"]);
  });
});

describe("an annotation comes before ports", () => {
  test.each<[string, Table, string, string]>([
    ["Istio's", { "sidecar.istio.io/status": istioStatus }, "istio", "annotation sidecar.istio.io/status"],
    ["Linkerd's", linkerdVersion, "linkerd", "annotation linkerd.io/proxy-version"],
    [
      "both",
      { ...linkerdVersion, "sidecar.istio.io/status": istioNative },
      "istio (native), linkerd",
      "annotation sidecar.istio.io/status, annotation linkerd.io/proxy-version",
    ],
    ["Kuma's", { "kuma.io/sidecar-injected": "true" }, "kuma", "annotation kuma.io/sidecar-injected"],
    [
      "Consul's",
      { "consul.hashicorp.com/connect-inject-status": "injected" },
      "consul",
      "annotation consul.hashicorp.com/connect-inject-status",
    ],
  ])("%s", (_, annotations, names, by) => {
    expect(found({ annotations, listening: [9901] })).toEqual([names, by]);
  });

  test.each(["false", "disabled", "0", "No", "off", ""])("but not one that says %p", (value) => {
    expect(found({ annotations: { "kuma.io/sidecar-injected": value } })).toEqual(["", "nothing"]);
  });
});

describe("ports that listen tell where nothing else does", () => {
  test.each<[readonly number[], string, string]>([
    [[], "", "nothing"],
    [[80, 15001, 15006], "", "nothing"],
    [[15000], "istio", "port 15000"],
    [[15000, 15020, 15021], "istio", "port 15021"],
    [[15020, 15000], "istio", "port 15020"],
    [[9901], "envoy", "port 9901"],
    [[4191], "linkerd", "port 4191"],
    [[9902], "kuma", "port 9902"],
    [[9901, 9902], "kuma", "port 9902"],
    [[20600], "consul", "port 20600"],
    [[19000, 20600], "consul", "port 20600"],
    [[19000], "envoy", "port 19000"],
    [[8001], "envoy", "port 8001"],
    [[20300], "", "nothing"],
    [[3500, 3501, 50001], "", "nothing"],
    [[8200], "", "nothing"],
    [[9090, 9091], "", "nothing"],
    [[80, 4191, 9901, 15021], "istio, envoy, linkerd", "port 15021, port 9901, port 4191"],
  ])("%p", (listening, names, by) => {
    expect(found({ listening })).toEqual([names, by]);
  });

  test("and annotations of anything else are no sidecar", () => {
    const annotations = { "kubernetes.io/config.seen": "2024", "example.com/linkerd.io/proxy-version": "1" };
    expect(found({ annotations, listening: [4191] })).toEqual(["linkerd", "port 4191"]);
  });
});

test("the kubelet's word on the pod tells whether a sidecar that a port shows is native; the pod's own word comes first", () => {
  const annotations = new Map([["sidecar.istio.io/status", istioNative]]);
  const byPort: readonly PortFinding[] = [{ name: "istio", by: "port 15021", annotations }];
  const native = (own: readonly (readonly [string, string])[]) =>
    detect({ env: {}, atAdmin: undefined, annotations: new Map(own), byPort }).found.map(({ isNative }) => isNative);
  expect(native([])).toEqual([true]);
  expect(native([["example.com/a", "b"]])).toEqual([true]);
});

test("a sidecar that a port shows says where its admin interface is, and whether that has answered", () => {
  const byPort: readonly PortFinding[] = [
    { name: "envoy", by: "port 8001", admin: "http://localhost:8001" },
    { name: "kuma", by: "port 9902", isSuggested: true },
  ];
  const { found } = detect({ env: { DAPR_HTTP_PORT: "3500" }, atAdmin: undefined, annotations: new Map(), byPort });
  expect(found).toEqual([
    { name: "envoy", isNative: false, adjustment: { admin: "http://localhost:8001" } },
    { name: "kuma", isNative: false, adjustment: {}, isSuggested: true },
    { name: "dapr", isNative: false, adjustment: { admin: "http://localhost:3500" } },
  ]);
});
