import { describe, expect, test } from "bun:test";
import { parseHttpTarget } from "../../../src/core/base/address.ts";
import { detect, type PortFinding, suggestedBy } from "../../../src/core/sidecars/detect.ts";
import { foundIn } from "../../../src/core/sidecars/plan.ts";
import type { SidecarName } from "../../../src/core/sidecars/registry.ts";

type Table = Readonly<Record<string, string>>;

interface Pod {
  readonly env?: Table;
  readonly admin?: string;
  readonly annotations?: Table;
  readonly listening?: readonly number[];
}

/** All that these ports suggest, as if it had proved to be there. */
function heardAt(ports: readonly number[]): readonly PortFinding[] {
  return suggestedBy(new Set(ports)).map(({ name, port }) => ({ name, by: `port ${port}` }));
}

/** The names that were found, a native one marked, and what told. */
function found({ env = {}, admin, annotations = {}, listening = [] }: Pod): readonly [names: string, by: string] {
  const { found, by } = detect({
    env,
    admin: admin === undefined ? undefined : parseHttpTarget(admin),
    annotations: new Map(Object.entries(annotations)),
    heard: heardAt(listening),
  });
  const names = found.map(({ name, isNative }) => (isNative ? `${name} (native)` : name)).join(", ");
  return [names, by ?? "nothing"];
}

const istioStatus = '{"initContainers":["istio-init"],"containers":["istio-proxy"]}';
const istioNative = '{"initContainers":["istio-init","istio-proxy"],"containers":null}';
const linkerdVersion = { "linkerd.io/proxy-version": "stable-2.14.0" };

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
    [[19000], "", "nothing"],
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

test("what its node says of the pod tells a native sidecar that a port tells of; the pod's own word comes first", () => {
  const annotations = new Map([["sidecar.istio.io/status", istioNative]]);
  const heard: readonly PortFinding[] = [{ name: "istio", by: "port 15021", annotations }];
  const native = (own: readonly (readonly [string, string])[]) =>
    detect({ env: {}, admin: undefined, annotations: new Map(own), heard }).found.map(({ isNative }) => isNative);
  expect(native([])).toEqual([true]);
  expect(native([["example.com/a", "b"]])).toEqual([true]);
});

test("what was heard says where its admin interface is, and whether that has proved anything", () => {
  const heard: readonly PortFinding[] = [
    { name: "envoy", by: "/server_info at http://127.0.0.1:9911", admin: "http://127.0.0.1:9911" },
    { name: "linkerd", by: "port 4191", isSuggested: true },
  ];
  const { found } = detect({ env: { DAPR_HTTP_PORT: "3500" }, admin: undefined, annotations: new Map(), heard });
  expect(found).toEqual([
    { name: "envoy", isNative: false, isHeard: true, adjustment: { admin: "http://127.0.0.1:9911" } },
    { name: "linkerd", isNative: false, isHeard: true, isSuggested: true },
    { name: "dapr", isNative: false, adjustment: { admin: "http://localhost:3500" } },
  ]);
});

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
    expect(detect({ ...pod, admin: undefined, heard: heardAt(listening) }).hasProxy).toBe(hasProxy);
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
    expect(istio(status)).toEqual([{ name: "istio", isNative: expected }]);
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
