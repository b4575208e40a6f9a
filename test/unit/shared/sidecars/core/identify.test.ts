import { describe, expect, test } from "bun:test";
import { type HttpTarget, parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import {
  adminOf,
  doubtOf,
  findingAt,
  findingOf,
  identify,
  isSharedAdmin,
  type PortFinding,
  type PortIdentity,
} from "../../../../../src/shared/sidecars/core/identify.ts";
import type { SidecarName } from "../../../../../src/shared/sidecars/core/registry.ts";

const answer = { headers: new Map(), isReusable: false };
const info = { version: "a/1.40.0/Clean/RELEASE/BoringSSL", state: "LIVE", command_line_options: {} };
const named = (name: SidecarName, body: unknown) => identify(name, { ...answer, status: 200, body: text(body) });

function text(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

describe("what the node in an Envoy's answer to /server_info shows", () => {
  const kuma = { "dataplane.proxyType": "dataplane" };
  const consul = { node_name: "node1-virtual", namespace: "default", partition: "default" };

  test.each<[string, object | undefined, SidecarName]>([
    ["Istio's sidecar", { id: "sidecar~10.0.0.7~web-0.shop~shop.svc.cluster.local" }, "istio"],
    ["Istio's gateway", { id: "router~10.0.0.7~gw-0.edge~edge.svc.cluster.local" }, "istio"],
    ["other words before the address", { id: "front~10.0.0.7~web-0.shop~x" }, "envoy"],
    ["Kuma's dataplane", { id: "default.web-0.shop", metadata: kuma }, "kuma"],
    ["the same ID without its metadata", { id: "default.web-0.shop" }, "envoy"],
    ["Consul's", { id: "web-0-web-sidecar-proxy", cluster: "web", metadata: consul }, "consul"],
    ["Consul's ID without its metadata", { id: "web-0-web-sidecar-proxy", cluster: "web" }, "envoy"],
    ["a constant", { id: "job" }, "envoy"],
    ["no node", undefined, "envoy"],
  ])("%s", (_, node, name) => {
    expect(named("envoy", { ...info, node })).toMatchObject({ kind: "proxy", name });
  });

  test("the pod's annotations, of Istio's", () => {
    const metadata = { ANNOTATIONS: { "sidecar.istio.io/status": "{}", other: 1 } };
    const identity = named("istio", { ...info, node: { id: "sidecar~::1~web.shop~x", metadata } });
    expect(identity).toEqual({
      kind: "proxy",
      name: "istio",
      annotations: new Map([["sidecar.istio.io/status", "{}"]]),
    });
  });
});

describe("an answer to /server_info", () => {
  test.each<[string, unknown]>([
    ["another state", { ...info, state: "UP" }],
    ["no state", { ...info, state: undefined }],
    ["no version", { ...info, version: undefined }],
    ["no command line", { ...info, command_line_options: undefined }],
    ["a list", [info]],
    ["null", null],
    ["nothing", ""],
    ["a page", "<html>"],
  ])("is not an Envoy's: %s", (_, body) => {
    expect(named("envoy", body)).toEqual({ kind: "other" });
  });

  test.each(["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"])("is one's in the state %s", (state) => {
    expect(named("envoy", { ...info, state })).toEqual({ kind: "proxy", name: "envoy" });
  });

  test.each([302, 404, 503])("of the status %d is another program's", (status) => {
    expect(identify("envoy", { ...answer, status, body: text(info) })).toEqual({ kind: "other" });
  });

  test("of the status 403 may be a proxy's", () => {
    expect(identify("istio", { ...answer, status: 403, body: "no" })).toMatchObject({
      problem: expect.stringContaining("403"),
    });
  });
});

test.each<[unknown, boolean]>([
  [{ _pod_name: "web-0", _pod_ns: "shop" }, true],
  [{ _pod_name: null, _pod_ns: null }, true],
  [{ _pod_name: "web-0" }, false],
  [{}, false],
  [[], false],
  ["not found", false],
])("Linkerd's proxy is shown by its environment: %j", (body, isShown) => {
  expect(named("linkerd", body).kind).toBe(isShown ? "proxy" : "other");
});

describe("which proxy a port and an answer come to", () => {
  const pod = { env: {}, annotations: new Map() };
  const proxy = (name: SidecarName) => ({ kind: "proxy", name }) as const;

  test.each<[SidecarName, number, SidecarName, readonly SidecarName[], PortFinding]>([
    ["envoy", 9901, "envoy", [], { name: "envoy", by: "port 9901" }],
    ["envoy", 8001, "envoy", [], { name: "envoy", by: "port 8001", admin: "http://localhost:8001" }],
    ["envoy", 9901, "istio", [], { name: "istio", by: "port 9901", admin: "http://localhost:9901" }],
    ["envoy", 9901, "istio", ["istio"], { name: "envoy", by: "port 9901" }],
    ["envoy", 19000, "consul", [], { name: "consul", by: "port 19000" }],
    ["istio", 15000, "istio", [], { name: "istio", by: "port 15000" }],
    ["istio", 15000, "envoy", [], { name: "envoy", by: "port 15000", admin: "http://localhost:15000" }],
    ["istio", 15000, "envoy", ["envoy"], { name: "envoy", by: "port 15000", admin: "http://localhost:15000" }],
    ["istio", 15021, "envoy", [], { name: "istio", by: "port 15021" }],
    ["linkerd", 4191, "linkerd", [], { name: "linkerd", by: "port 4191" }],
  ])("%s on %d that shows itself as %s, beside %j", (name, port, shown, others, finding) => {
    const one = { name, port };
    expect(findingOf(one, adminOf(one, pod), proxy(shown), [name, ...others])).toEqual(finding);
  });

  test("its admin interface is where an annotation puts it", () => {
    const annotations = new Map([["config.linkerd.io/admin-port", "4999"]]);
    expect(adminOf({ name: "linkerd", port: 4191 }, { env: {}, annotations })).toMatchObject({
      authority: "localhost:4999",
    });
  });
});

describe("whose admin interface it is that the user names", () => {
  const annotations = new Map([["sidecar.istio.io/status", "{}"]]);
  const [plain, silent, other] = [{ kind: "proxy", name: "envoy" }, { kind: "silent" }, { kind: "other" }] as const;
  const shows = (name: SidecarName) => ({ kind: "proxy", name, annotations }) as const;

  test.each<[string, PortIdentity, readonly number[], Omit<PortFinding, "by">]>([
    ["http://localhost:15000", shows("istio"), [], { name: "istio", annotations }],
    ["http://localhost:9000", shows("istio"), [], { name: "istio", annotations }],
    ["http://localhost:19000", shows("consul"), [], { name: "consul", annotations }],
    ["unix:/admin.sock", shows("kuma"), [], { name: "kuma", annotations }],
    ["http://localhost:15000", plain, [15000, 9901, 4191], { name: "envoy" }],
    ["http://localhost:15000", plain, [15000, 15020], { name: "istio" }],
    ["http://localhost:15000", other, [15021], { name: "istio" }],
    ["http://localhost:15000", other, [15000], { name: "envoy" }],
    ["http://localhost:15000", silent, [15020], { name: "istio", isSuggested: true }],
    ["http://localhost:15000", silent, [], { name: "envoy", isSuggested: true }],
    ["http://localhost:9901", plain, [9901, 15021], { name: "envoy" }],
    ["http://localhost:9901", plain, [9901, 9902], { name: "kuma" }],
    ["http://localhost:19000", silent, [20600], { name: "consul", isSuggested: true }],
    ["http://localhost:9000", other, [15020, 9902, 20600], { name: "envoy" }],
    ["http://localhost:4191", other, [], { name: "linkerd" }],
    ["http://localhost:4191", plain, [4191], { name: "envoy" }],
    ["unix:/admin.sock", plain, [15021], { name: "envoy" }],
  ])("%s, where %j answers, beside the ports %j", (url, identity, listening, finding) => {
    const target = parseHttpTarget(url) as HttpTarget;
    const signs = { listening: new Set(listening), annotated: [] };
    expect(findingAt(target, "--admin", identity, signs)).toEqual({ ...finding, by: "--admin" });
  });
});

test.each<[string, boolean]>([
  ["http://localhost:15000", true],
  ["http://127.0.0.1:9901", true],
  ["http://localhost:19000", true],
  ["http://localhost:4191", false],
  ["http://localhost:8001", false],
  ["unix:/admin.sock", false],
])("whether a mesh's Envoy and a plain one share %s: %p", (url, isShared) => {
  expect(isSharedAdmin(parseHttpTarget(url) as HttpTarget)).toBe(isShared);
});

test.each<[Exclude<PortIdentity, { kind: "proxy" }>, RegExp]>([
  [
    { kind: "silent" },
    /port 15021 suggests istio, but http:.*:15000\/server_info does not answer: set --sidecar istio/,
  ],
  [{ kind: "other", problem: "does not allow it" }, /15000\/server_info does not allow it.*--admin/],
])("a doubt says why, and what to set: %j", (identity, text) => {
  const admin = parseHttpTarget("http://localhost:15000");
  if (admin === undefined) throw new Error("no target");
  expect(doubtOf({ name: "istio", port: 15021 }, admin, identity)).toMatch(text);
  const shared = "port 15000 suggests istio or envoy, but http://localhost:15000/server_info does not a";
  expect(doubtOf({ name: "istio", port: 15000 }, admin, identity)).toStartWith(shared);
  expect(doubtOf({ name: "istio", port: 15000 }, admin, identity)).toContain(": set --sidecar istio or envoy, or");
});
