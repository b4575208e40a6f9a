import { describe, expect, test } from "bun:test";
import { detect } from "../../../../../src/shared/sidecars/core/detect.ts";
import { foundIn } from "../../../../../src/shared/sidecars/core/plan.ts";
import type { SidecarName } from "../../../../../src/shared/sidecars/core/registry.ts";
import { found, foundAt, istioNative, istioStatus, linkerdVersion, type Pod, type Table } from "./detected.ts";

describe("a companion stands beside the mesh's proxy: neither hides the other", () => {
  const DAPR_HTTP_PORT = "3500";
  const CSQL_PROXY_QUIT_URLS = "http://localhost:9091/quitquitquit";
  const dapr = { "dapr.io/enabled": "true" };
  const vault = { "vault.hashicorp.com/agent-inject-status": "injected" };
  const vaultBy = "annotation vault.hashicorp.com/agent-inject-status";

  test.each<[string, Pod, string, string]>([
    ["Dapr by its variable", { env: { DAPR_HTTP_PORT } }, "dapr", "DAPR_HTTP_PORT"],
    ["Dapr by its annotation", { annotations: dapr }, "dapr", "annotation dapr.io/enabled"],
    ["Dapr by both", { env: { DAPR_HTTP_PORT }, annotations: dapr }, "dapr", "DAPR_HTTP_PORT"],
    ["Cloud SQL by its variable", { env: { CSQL_PROXY_QUIT_URLS } }, "cloud-sql-proxy", "CSQL_PROXY_QUIT_URLS"],
    ["Vault by its annotation", { annotations: vault }, "vault-agent", vaultBy],
    [
      "one that ebb inject made native",
      { annotations: { "ebb.dev/native": "true,kuma,cloud-sql-proxy" } },
      "cloud-sql-proxy (native)",
      "annotation ebb.dev/native",
    ],
    [
      "Dapr by its variable, Linkerd by its annotation",
      { env: { DAPR_HTTP_PORT }, annotations: linkerdVersion, listening: [9901] },
      "linkerd, dapr",
      "annotation linkerd.io/proxy-version, DAPR_HTTP_PORT",
    ],
    [
      "Dapr by its variable, Istio by its port",
      { env: { DAPR_HTTP_PORT }, listening: [15021] },
      "istio, dapr",
      "port 15021, DAPR_HTTP_PORT",
    ],
    [
      "Istio by a variable, Vault by its annotation",
      { env: { ISTIO_QUIT_API: "x" }, annotations: { ...vault, ...linkerdVersion } },
      "istio, vault-agent",
      `ISTIO_QUIT_API, ${vaultBy}`,
    ],
    [
      "all three beside Consul",
      { env: { DAPR_HTTP_PORT, CSQL_PROXY_QUIT_URLS }, annotations: vault, listening: [20600] },
      "consul, dapr, vault-agent, cloud-sql-proxy",
      `port 20600, DAPR_HTTP_PORT, ${vaultBy}, CSQL_PROXY_QUIT_URLS`,
    ],
  ])("%s", (_, pod, names, by) => {
    expect(found(pod)).toEqual([names, by]);
  });

  test.each<[string, Pod]>([
    ["an empty variable", { env: { DAPR_HTTP_PORT: "", CSQL_PROXY_QUIT_URLS: "" } }],
    ["Dapr that is switched off", { annotations: { "dapr.io/enabled": "false" } }],
    [
      "a Vault Agent that is an init container only",
      { annotations: { ...vault, "vault.hashicorp.com/agent-pre-populate-only": "true" } },
    ],
  ])("none is %s", (_, pod) => {
    expect(found(pod)).toEqual(["", "nothing"]);
  });

  test.each<[Pod, boolean]>([
    [{}, false],
    [{ env: { DAPR_HTTP_PORT } }, false],
    [{ env: { DAPR_HTTP_PORT }, listening: [15021] }, true],
    [{ annotations: linkerdVersion }, true],
  ])("a proxy may still come unless one is there: %j", ({ env = {}, annotations = {}, listening = [] }, hasProxy) => {
    const pod = { env, annotations: new Map(Object.entries(annotations)) };
    expect(detect({ ...pod, atAdmin: undefined, byPort: foundAt(listening) }).hasProxy).toBe(hasProxy);
  });
});

describe("whether a sidecar is a native one is told by the annotations, however it was found:", () => {
  const isNative = (name: "istio" | "linkerd" | "envoy", annotations: Table) =>
    foundIn({ env: {}, annotations: new Map(Object.entries(annotations)) }, [name]);
  const istio = (status: string) => isNative("istio", { "sidecar.istio.io/status": status });

  test.each<[string, boolean]>([
    [istioNative, true],
    ['{"initContainers":["istio-proxy"]}', true],
    ['{"initContainers":["istio-validation","istio-proxy"],"containers":[]}', true],
    [istioStatus, false],
    ['{"initContainers":["istio-proxy"],"containers":["istio-proxy"]}', false],
    ['{"containers":["istio-proxy"]}', false],
    ['{"initContainers":"istio-proxy"}', false],
    ["{}", false],
    ["null", false],
    ["5", false],
    ["", false],
    ["injected", false],
  ])("Istio's status %s", (status, expected) => {
    expect(istio(status)).toMatchObject([{ name: "istio", isNative: expected }]);
  });

  test.each<[SidecarName, string, string, boolean]>([
    ["istio", "sidecar.istio.io/status", istioStatus, true],
    ["istio", "sidecar.istio.io/inject", "true", false],
    ["linkerd", "linkerd.io/proxy-version", "stable", true],
    ["linkerd", "linkerd.io/inject", "enabled", false],
    ["dapr", "dapr.io/enabled", "true", false],
  ])("of %s, %s: %s is its injector's: %p", (name, annotation, value, isProven) => {
    const [one] = foundIn({ env: {}, annotations: new Map([[annotation, value]]) }, [name]);
    expect(one?.isProven === true).toBe(isProven);
  });

  test.each<[string, string, boolean]>([
    ["config.linkerd.io/proxy-enable-native-sidecar", "true", true],
    ["config.beta.linkerd.io/proxy-enable-native-sidecar", "true", true],
    ["config.linkerd.io/proxy-enable-native-sidecar", "false", false],
    ["config.beta.linkerd.io/proxy-enable-native-sidecar", "", false],
    ["sidecar.istio.io/status", istioNative, false],
  ])("for Linkerd, %s: %s", (key, value, expected) => {
    expect(isNative("linkerd", { [key]: value })).toEqual([{ name: "linkerd", isNative: expected }]);
  });

  test.each<[SidecarName, string, string, boolean]>([
    ["dapr", "dapr.io/enable-native-sidecar", "true", true],
    ["dapr", "dapr.io/enable-native-sidecar", "false", false],
    ["consul", "consul.hashicorp.com/enable-consul-dataplane-as-sidecar", "true", true],
    ["consul", "consul.hashicorp.com/enable-consul-dataplane-as-sidecar", "", false],
  ])("for %s, %s: %s", (name, key, value, expected) => {
    const [sidecar] = foundIn({ env: {}, annotations: new Map([[key, value]]) }, [name]);
    expect(sidecar?.isNative).toBe(expected);
  });

  test("a plain Envoy never is, and nothing is without annotations", () => {
    expect(isNative("envoy", { "sidecar.istio.io/status": istioNative })).toEqual([{ name: "envoy", isNative: false }]);
    expect(isNative("istio", {})).toEqual([{ name: "istio", isNative: false }]);
  });

  test("by variable and by port too", () => {
    const annotations = { "config.linkerd.io/proxy-enable-native-sidecar": "true" };
    expect(found({ annotations, listening: [4191] })).toEqual(["linkerd (native)", "port 4191"]);
    const named = { "ebb.dev/native": "dapr, envoy" };
    expect(found({ annotations: named, listening: [9901] })).toEqual(["envoy (native)", "port 9901"]);
    expect(found({ annotations: named, env: { DAPR_HTTP_PORT: "3500" } })).toEqual(["dapr (native)", "DAPR_HTTP_PORT"]);
    expect(found({ annotations: { "ebb.dev/native": "envoy2" }, listening: [9901] })).toEqual(["envoy", "port 9901"]);
    expect(found({ annotations: named })).toEqual(["", "nothing"]); // how it is, not that it is there
    const status = { "sidecar.istio.io/status": istioNative };
    expect(found({ annotations: status, admin: "http://h:15000" })).toEqual(["istio (native)", "--admin"]);
  });
});
