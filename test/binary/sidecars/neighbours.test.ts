import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { childPath } from "../../compiled.ts";
import { quitLineOf, temporaryFolder } from "../../harness.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside, type Hosts, type InNetwork, podUid } from "./own-network.ts";

const app = ["--", childPath(), "exit", "5"];
const odd: Port = { port: 9911, node: { id: "front" } };
const fast = ["--drain", "2s", "--min-drain", "0s"];
const self = { POD_NAME: "web-0", POD_NAMESPACE: "shop" };
const istioOf = (pod: string) => ({ id: `sidecar~10.0.0.7~${pod}.shop~shop.svc.cluster.local` });

function lineOf({ log, stderr }: InNetwork, msg: string) {
  const line = log.find((each) => each.msg === `ebb: ${msg}`);
  if (line === undefined) throw new Error(`no "${msg}" in: ${stderr}`);
  return line;
}

function posts({ requests }: InNetwork): readonly string[] {
  return requests.filter((request) => !request.includes(" GET "));
}

describe.skipIf(!canHaveNetwork)("an Envoy whose admin interface is anywhere on loopback (which needs root)", () => {
  test.each<[string, Port, string]>([
    ["127.0.0.1", odd, "http://127.0.0.1:9911"],
    ["::1", { ...odd, host: "::1" }, "http://[::1]:9911"],
    ["127.0.0.1, and late", { ...odd, afterMs: 400 }, "http://127.0.0.1:9911"],
  ])("is found on %s by what it answers, waited for and quit", async (_, port, admin) => {
    const ended = await ebbBeside([port], ["run", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: ["9911 POST /quitquitquit"] });
    expect(lineOf(ended, "found")).toMatchObject({ sidecars: ["envoy"], by: `/server_info at ${admin}` });
    expect(lineOf(ended, "ready").target).toBe(`${admin}/ready`);
  });

  test("is found by quit, drain, status and request", async () => {
    const quit = await ebbBeside([odd], ["quit"]);
    expect(quit).toMatchObject({ code: 0, requests: ["9911 POST /quitquitquit"] });
    const stats = "http.in.downstream_rq_active: 0\nlistener.in.downstream_cx_active: 0\n";
    const drain = await ebbBeside([{ ...odd, stats }], ["drain", ...fast]);
    expect(drain.code).toBe(0);
    expect(posts(drain)).toContain("9911 POST /drain_listeners");
    const status = await ebbBeside([odd], ["status", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ sidecars: [{ name: "envoy", ready: true }] });
    const request = await ebbBeside([odd], ["request", "/stats"]);
    expect(request).toMatchObject({ code: 0, requests: ["9911 GET /stats"] });
  });

  test("is of the mesh that its node.id tells", async () => {
    const ports = [
      { port: 15500, node: istioOf("web-0") },
      { port: 15020, afterMs: 300 },
      { port: 15021, afterMs: 300 },
    ];
    const ended = await ebbBeside(ports, ["run", "--drain", "2s", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: ["15020 POST /quitquitquit"] });
    expect(lineOf(ended, "found").sidecars).toEqual(["istio"]);
  });

  test.each<[string, readonly string[]]>([
    ["named by the user", ["--sidecar", "envoy"]],
    ["on a socket of IPv6 alone, named by the user", ["--sidecar", "envoy"]],
  ])("is found where nobody listens on its usual port: %s", async (title, flags) => {
    const port = title.includes("IPv6") ? { ...odd, host: "::1" } : odd;
    const run = await ebbBeside([{ ...port, afterMs: 300 }], ["run", ...flags, ...app]);
    expect(run).toMatchObject({ code: 5, requests: ["9911 POST /quitquitquit"] });
    const quit = await ebbBeside([port], ["quit", ...flags]);
    expect(quit).toMatchObject({ code: 0, requests: ["9911 POST /quitquitquit"] });
  });

  test("is found where an annotation names its mesh, and nobody listens where its admin interface should be", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    await Bun.write(path, 'kuma.io/sidecar-injected="true"\nkuma.io/envoy-admin-port="9901"\n');
    const node = { id: "default.web-0.shop", metadata: { "dataplane.proxyType": "dataplane" } };
    const ports = [{ port: 9902 }, { port: 9911, node }, { port: 9912, node: istioOf("web-0") }];
    const ended = await ebbBeside(ports, ["quit", "--pod-annotations", path]);
    expect(ended).toMatchObject({ code: 0, requests: ["9911 POST /quitquitquit"] });
  });

  test("is drained where it is, if its mesh is found by another port", async () => {
    const stats = "http.in.downstream_rq_active: 0\nlistener.in.downstream_cx_active: 0\n";
    const ports = [{ port: 15020 }, { port: 15021 }, { port: 15500, node: istioOf("web-0"), stats }];
    const ended = await ebbBeside(ports, ["drain", ...fast]);
    expect(ended.code).toBe(0);
    expect(posts(ended)).toContain("15500 POST /drain_listeners");
  });
});

test.skipIf(!canHaveNetwork)(
  "an Envoy that is slow to say who it is has a share of the time that there is",
  async () => {
    const [slow, long] = [{ port: 9901, infoAfterMs: 3000 }, "30s"];
    const drain = await ebbBeside([slow], ["drain", "--drain", long, "--min-drain", "0s"]);
    expect(posts(drain)).toContain("9901 POST /drain_listeners");
    const quit = await ebbBeside([slow], ["quit", "--quit-timeout", long]);
    expect(quit).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
    const elsewhere = await ebbBeside([{ ...odd, infoAfterMs: 1000 }], ["quit"]);
    expect(elsewhere).toMatchObject({ code: 0, requests: ["9911 POST /quitquitquit"] });
    expect((await ebbBeside([slow], ["quit"])).log.at(-1)?.reason).toMatch(/nobody answers at/);
  },
);

describe.skipIf(!canHaveNetwork)("an app that listens where an Envoy might", () => {
  test.each([200, 302, 404])("is neither waited for nor quit: it answers %d", async (status) => {
    const ended = await ebbBeside([{ port: 9901, app: status }], ["run", "--detect", "200ms", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: ["9901 GET /server_info"] });
    expect(ended.log.map(({ msg }) => msg)).toEqual(["ebb: no sidecar found", "ebb: started the command", "ebb: done"]);
    expect((await ebbBeside([{ port: 9901, app: status }], ["quit"])).code).toBe(0);
  });

  test("does not hide the Envoy that is elsewhere", async () => {
    const ended = await ebbBeside([{ port: 9901, app: 404 }, odd], ["run", ...app]);
    expect(posts(ended)).toEqual(["9911 POST /quitquitquit"]);
  });

  test("is asked once, whatever port of loopback it is on, and never on a port that it declares", async () => {
    const ports = [
      { port: 7001, app: 200 },
      { port: 7002, app: 200 },
      { port: 9901, app: 200 },
    ];
    const env = { EBB_APP_PORT: "7002,9901" };
    const ended = await ebbBeside(ports, ["run", "--detect", "500ms", ...app], { env });
    expect(ended).toMatchObject({ code: 5, requests: ["7001 GET /server_info"] });
  });

  test("that never answers holds nothing up", async () => {
    const start = performance.now();
    const ended = await ebbBeside([{ port: 7001, hangs: true, app: 200 }], ["run", "--detect", "200ms", ...app]);
    expect(ended.code).toBe(5);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

describe.skipIf(!canHaveNetwork)("on the node's network", () => {
  const strange: Port = { port: 9901, node: { id: "gateway" } };

  test.each<[string, Hosts, readonly string[]]>([
    ["by the kubelet's /etc/hosts", "node", []],
    ["by the injector's word", "own", ["--host-network"]],
    ["or on one of which nothing tells", "machine", []],
  ])("an Envoy that does not name this pod is neither quit nor drained: %s", async (_, hosts, flags) => {
    const network = { hosts, env: self };
    const run = await ebbBeside([strange], ["run", ...flags, "--detect", "200ms", ...app], network);
    expect(run).toMatchObject({ code: 5, requests: [] });
    expect(lineOf(run, "did not tell a proxy to quit").reason).toMatch(
      /http:\/\/localhost:9901 may be another .*node\.id is "gateway".*--admin/,
    );
    const quit = await ebbBeside([strange], ["quit", ...flags], network);
    expect(quit).toMatchObject({ code: 69, requests: [] });
    expect(lineOf(quit, "did not tell a proxy to quit").level).toBe("error");
    const drain = await ebbBeside([strange], ["drain", ...flags, ...fast, "--quit"], network);
    expect(drain).toMatchObject({ code: 69, requests: [] });
    expect(lineOf(drain, "did not drain a proxy or tell it to quit").reason).toContain("gateway");
  });

  test("run drains nobody there either", async () => {
    const ended = await ebbBeside([strange], ["run", "--detect", "100ms", ...fast, "--", "sleep", "0.3"], {
      hosts: "node",
    });
    expect(ended).toMatchObject({ code: 0, requests: [] });
  });

  test("status says it, and request asks nobody who is not proved", async () => {
    const status = await ebbBeside([strange], ["status", "--json"], { hosts: "node" });
    const { sidecars, findings } = JSON.parse(status.stdout);
    expect(sidecars).toEqual([]);
    expect(findings).toContainEqual({
      kind: "not-proved",
      message: expect.stringContaining("this pod's name is not known"),
    });
    const request = await ebbBeside([strange], ["request", "POST", "/quitquitquit"], { hosts: "node" });
    expect(request).toMatchObject({ code: 69, requests: [] });
    expect(request.stderr).toContain("may be another pod's");
  });

  test.each<[string, readonly Port[], string, string]>([
    ["its node.id", [{ port: 9901, node: { id: "web-0.shop" } }], "envoy", "9901 POST /quitquitquit"],
    ["its metadata", [{ port: 9901, node: { metadata: { POD_UID: podUid } } }], "envoy", "9901 POST /quitquitquit"],
    [
      "its node.id, on any port",
      [{ port: 9911, node: { id: "web-0.shop" } }, strange],
      "envoy",
      "9911 POST /quitquitquit",
    ],
    [
      "Istio's node.id",
      [{ port: 15000, node: istioOf("web-0") }, { port: 15020 }, { port: 15021 }],
      "istio",
      "15000 POST /quitquitquit",
    ],
    [
      "the UID in Linkerd's environment",
      [{ port: 4191, pod: { _pod_name: "x", _pod_uid: podUid } }],
      "linkerd",
      "4191 POST /shutdown",
    ],
  ])("a proxy that names this pod is this pod's: by %s", async (_, ports, name, request) => {
    const ended = await ebbBeside(ports, ["run", ...app], { hosts: "node", env: self });
    expect(posts(ended)).toEqual([request]);
    expect(lineOf(ended, "found").sidecars).toEqual([name]);
    expect((await ebbBeside(ports, ["quit"], { hosts: "node", env: self })).code).toBe(0);
  });

  test.each<[string, readonly Port[]]>([
    [
      "Istio's, of a pod whose name begins with ours",
      [{ port: 15000, node: istioOf("web-01") }, { port: 15020 }, { port: 15021 }],
    ],
    ["a plain one", [{ port: 9901, node: { id: "web-0.other" } }]],
    ["Linkerd's", [{ port: 4191, pod: { _pod_name: "web-0", _pod_ns: "shop", _pod_uid: "1-2-3" } }]],
  ])("a proxy that names another pod is left alone, and no failure: %s", async (_, ports) => {
    const quit = await ebbBeside(ports, ["quit"], { hosts: "node", env: self });
    expect(quit).toMatchObject({ code: 0, requests: [] });
    expect(lineOf(quit, "did not tell a proxy to quit")).toMatchObject({
      level: "info",
      reason: expect.stringContaining("another pod"),
    });
    const run = await ebbBeside(ports, ["run", "--detect", "100ms", ...app], { hosts: "node", env: self });
    expect(run).toMatchObject({ code: 5, requests: [] });
  });

  test("one that is named is this pod's where it should be, but elsewhere only by its node.id", async () => {
    const flags = ["quit", "--sidecar", "envoy"];
    const network = { hosts: "node", env: self } as const;
    expect(posts(await ebbBeside([strange], flags, network))).toEqual(["9901 POST /quitquitquit"]);
    const elsewhere = await ebbBeside([odd], [...flags, "--quit-timeout", "300ms"], network);
    expect(elsewhere).toMatchObject({ code: 69, requests: [] });
    expect(quitLineOf(elsewhere).outcome).toContain("connection refused");
    const ours = { port: 9911, node: { id: "web-0.shop" } };
    expect(posts(await ebbBeside([ours], flags, network))).toEqual(["9911 POST /quitquitquit"]);
  });

  test("a user who says that the network is the pod's own is believed", async () => {
    const ended = await ebbBeside([strange], ["quit", "--host-network=false"], { hosts: "machine" });
    expect(ended).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
  });

  test("nobody on loopback is asked where this pod's name is not known: no answer would prove anything", async () => {
    const ports = [{ port: 7001, app: 200 }];
    const ended = await ebbBeside(ports, ["run", "--detect", "200ms", ...app], { hosts: "machine" });
    expect(ended).toMatchObject({ code: 5, requests: [] });
  });
});
