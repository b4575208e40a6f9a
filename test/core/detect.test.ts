import { describe, expect, test } from "bun:test";
import { parseHttpTarget } from "../../src/core/address.ts";
import { detect, withNative } from "../../src/core/detect.ts";

type Table = Readonly<Record<string, string>>;

interface Pod {
  readonly env?: Table;
  readonly admin?: string;
  readonly annotations?: Table;
  readonly listening?: readonly number[];
}

/** The names that were found, a native one marked, and what told. */
function found({ env = {}, admin, annotations = {}, listening = [] }: Pod): readonly [names: string, by: string] {
  const { found, by } = detect({
    env,
    admin: admin === undefined ? undefined : parseHttpTarget(admin),
    annotations: new Map(Object.entries(annotations)),
    listening: new Set(listening),
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
      "annotation sidecar.istio.io/status, linkerd.io/proxy-version",
    ],
  ])("%s", (_, annotations, names, by) => {
    expect(found({ annotations, listening: [9901] })).toEqual([names, by]);
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
    [[80, 4191, 9901, 15021], "istio, envoy, linkerd", "port 15021, 9901, 4191"],
  ])("%p", (listening, names, by) => {
    expect(found({ listening })).toEqual([names, by]);
  });

  test("and annotations of anything else are no sidecar", () => {
    const annotations = { "kubernetes.io/config.seen": "2024", "example.com/linkerd.io/proxy-version": "1" };
    expect(found({ annotations, listening: [4191] })).toEqual(["linkerd", "port 4191"]);
  });
});

describe("whether a sidecar is a native one is told by the annotations, however it was found:", () => {
  const isNative = (name: "istio" | "linkerd" | "envoy", annotations: Table) =>
    withNative([name], new Map(Object.entries(annotations)));
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

  test("a plain Envoy never is, and nothing is without annotations", () => {
    expect(isNative("envoy", { "sidecar.istio.io/status": istioNative })).toEqual([{ name: "envoy", isNative: false }]);
    expect(isNative("istio", {})).toEqual([{ name: "istio", isNative: false }]);
  });

  test("by variable and by port too", () => {
    const annotations = { "config.linkerd.io/proxy-enable-native-sidecar": "true" };
    expect(found({ annotations, listening: [4191] })).toEqual(["linkerd (native)", "port 4191"]);
    const status = { "sidecar.istio.io/status": istioNative };
    expect(found({ annotations: status, admin: "http://h:15000" })).toEqual(["istio (native)", "--admin"]);
  });
});
