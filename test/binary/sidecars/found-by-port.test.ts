import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { lineOf, temporaryFolder } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside, type Hosts, posts } from "./own-network.ts";

const app = ["--", childPath(), "exit", "5"];
const odd: Port = { port: 8001, node: { id: "front" } };
/** Nothing is in flight. */
const stats = "http.in.downstream_rq_active: 0\nlistener.in.downstream_cx_active: 0\n";
const fast = ["--drain", "2s", "--min-drain", "0s"];
const istioOf = (pod: string) => ({ id: `sidecar~10.0.0.7~${pod}.shop~shop.svc.cluster.local` });

describe.skipIf(!canHaveNetwork)("an Envoy on any of the ports that are tried (which needs root)", () => {
  test.each<[string, Port]>([
    ["8001", odd],
    ["15000", { ...odd, port: 15000 }],
    ["19000", { ...odd, port: 19000 }],
    ["8001 of ::1", { ...odd, host: "::1" }],
    ["8001, and late", { ...odd, afterMs: 400 }],
  ])("is found by what it answers, waited for and quit: %s", async (_, port) => {
    const ended = await ebbBeside([port], ["run", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: [`${port.port} POST /quitquitquit`] });
    expect(lineOf(ended, "found")).toMatchObject({ sidecars: ["envoy"], by: `port ${port.port}` });
    expect(lineOf(ended, "ready").target).toBe(`http://localhost:${port.port}/ready`);
  });

  test("is found by quit, drain, status and request", async () => {
    const quit = await ebbBeside([odd], ["quit"]);
    expect(quit).toMatchObject({ code: 0, requests: ["8001 POST /quitquitquit"] });
    const drain = await ebbBeside([{ ...odd, stats }], ["drain", ...fast]);
    expect(drain.code).toBe(0);
    expect(posts(drain)).toContain("8001 POST /drain_listeners");
    const status = await ebbBeside([odd], ["status", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ sidecars: [{ name: "envoy", ready: true }] });
    const request = await ebbBeside([odd], ["request", "/stats"]);
    expect(request).toMatchObject({ code: 0, requests: ["8001 GET /stats"] });
  });

  test("is of the mesh that its node.id tells", async () => {
    const ports = [
      { port: 9901, node: istioOf("web-0") },
      { port: 15020, afterMs: 300 },
      { port: 15021, afterMs: 300 },
    ];
    const ended = await ebbBeside(ports, ["run", "--drain", "2s", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: ["15020 POST /quitquitquit"] });
    expect(lineOf(ended, "found").sidecars).toEqual(["istio"]);
  });

  test("on 15000 is no Istio, whatever else listens on a port that is tried", async () => {
    const ports: readonly Port[] = [
      { ...odd, port: 15000 },
      { port: 8001, app: 404 },
      { port: 9901, app: 404 },
    ];
    const ended = await ebbBeside(ports, ["run", ...app]);
    expect(posts(ended)).toEqual(["15000 POST /quitquitquit"]);
  });

  test("is the injected pod's native one: ready, drained, and never quit", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    await Bun.write(path, 'ebb.dev/native="envoy"\n');
    const ports = [{ ...odd, port: 15000, stats }];
    const run = await ebbBeside(ports, ["run", "--pod-annotations", path, ...app]);
    expect(run).toMatchObject({ code: 5, requests: [] });
    expect(lineOf(run, "found")).toMatchObject({ sidecars: ["envoy"], native: true });
    const hook = await ebbBeside(ports, ["drain", "--sidecar=envoy", ...fast]);
    expect(hook.code).toBe(0);
    expect(posts(hook)).toEqual(["15000 POST /healthcheck/fail", "15000 POST /drain_listeners"]);
  });

  test.each<[string, Port]>([
    ["from the start", {} as Port],
    ["late", { afterMs: 400 } as Port],
  ])("on 15000 is what --admin names, and no Istio: %s", async (_, more) => {
    const plain = { ...odd, ...more, port: 15000, stats };
    const admin = ["--admin", "http://localhost:15000"];
    for (const hosts of ["own", "node", "machine"] as const) {
      const ended = await ebbBeside([plain], ["run", ...admin, ...app], { hosts });
      expect(ended).toMatchObject({ code: 5, requests: ["15000 POST /quitquitquit"] });
      expect(ended.stderr).not.toContain("pilot-agent");
    }
    if (plain.afterMs !== undefined) return;
    const drain = await ebbBeside([plain], ["drain", ...admin, ...fast, "--then-quit"]);
    expect(drain.code).toBe(0);
    expect(posts(drain)).toContain("15000 POST /quitquitquit");
    const status = await ebbBeside([plain], ["status", "--json", ...admin]);
    expect(JSON.parse(status.stdout)).toMatchObject({ foundBy: "--admin", sidecars: [{ name: "envoy" }] });
  });

  test("that --admin names is Istio's, also on another port that is shared, if its node shows that", async () => {
    const ports: readonly Port[] = [{ port: 9901, node: istioOf("web-0") }, { port: 15020 }, { port: 15021 }];
    const ended = await ebbBeside(ports, ["run", "--admin", "http://localhost:9901", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: ["15020 POST /quitquitquit"] });
    const late = ports.map((port) => ({ ...port, afterMs: 300 }));
    const waited = await ebbBeside(late, ["run", "--admin", "http://localhost:9901", ...app]);
    expect(waited).toMatchObject({ code: 5, requests: ["15020 POST /quitquitquit"] });
  });

  test.each<[string, Port]>([
    ["8001", odd],
    ["8001 of all addresses", { ...odd, host: "0.0.0.0" }],
    ["15000", { ...odd, port: 15000 }],
    ["8001, and later than auto looks", { ...odd, afterMs: 3500 }],
  ])("is found where only its name is given: %s", async (_, port) => {
    const named = ["--sidecar", "envoy"];
    const request = `${port.port} POST /quitquitquit`;
    const run = await ebbBeside([port], ["run", ...named, ...app]);
    expect(run).toMatchObject({ code: 5, requests: [request] });
    expect(lineOf(run, "ready").target).toBe(`http://localhost:${port.port}/ready`);
    if (port.afterMs !== undefined) return;
    expect(await ebbBeside([port], ["quit", ...named])).toMatchObject({ code: 0, requests: [request] });
    const status = await ebbBeside([port], ["status", "--json", ...named]);
    expect(JSON.parse(status.stdout).sidecars).toMatchObject([{ name: "envoy", ready: true }]);
    const stats = await ebbBeside([port], ["request", ...named, "/stats"]);
    expect(stats).toMatchObject({ code: 0, requests: [`${port.port} GET /stats`] });
  });

  test("is not another sidecar that is named, nor one elsewhere if one is at the usual place", async () => {
    const ports: readonly Port[] = [{ port: 15000 }, { port: 15020 }, { port: 15021 }, odd];
    const both = await ebbBeside(ports, ["quit", "--sidecar", "envoy,istio"]);
    expect(both.requests.toSorted()).toEqual(["15020 POST /quitquitquit", "8001 POST /quitquitquit"]);
    for (const flags of [["--sidecar", "envoy"], []]) {
      const one = await ebbBeside([{ port: 15000 }, odd, { port: 9901 }], ["quit", ...flags]);
      expect(one.requests).toEqual(["9901 POST /quitquitquit"]);
    }
  });

  test("is not looked for at a port that the app declares, nor on the node's network", async () => {
    const [named, env] = [["quit", "--sidecar", "envoy", "--quit-timeout", "300ms"], { EBB_APP_PORT: "8001" }];
    expect(await ebbBeside([odd], named, { env })).toMatchObject({ code: 69, requests: [] });
    expect(await ebbBeside([odd], named, { hosts: "node" })).toMatchObject({ code: 69, requests: [] });
  });

  test("is found by quit at any port that listens, if only its name is given and no port that is tried has one", async () => {
    const named = ["quit", "--sidecar", "envoy"];
    const any: readonly Port[] = [
      { port: 9000, app: 404 },
      { ...odd, port: 9999 },
      { port: 9001, app: 404 },
    ];
    const ended = await ebbBeside(any, named);
    expect([ended.code, posts(ended)]).toEqual([0, ["9999 POST /quitquitquit"]]);
    expect((await ebbBeside([...any, odd], named)).requests).toEqual(["8001 POST /quitquitquit"]);
    const fast = [...named, "--quit-timeout", "300ms"];
    const declared = await ebbBeside(any, fast, { env: { EBB_APP_PORT: "9999" } });
    expect([declared.code, posts(declared)]).toEqual([69, []]);
    expect(await ebbBeside(any, fast, { hosts: "node" })).toMatchObject({ code: 69, requests: [] });
    expect(await ebbBeside(any, ["quit"])).toMatchObject({ code: 0, requests: [] });
  });

  test("is waited for by quit, if it is surely there and does not listen yet", async () => {
    const named = ["quit", "--sidecar", "envoy", "--ignore-not-found=false"];
    const late: readonly Port[] = [
      { port: 9000, app: 404 },
      { ...odd, port: 9999, afterMs: 1500 },
    ];
    const ended = await ebbBeside(late, [...named, "--quit-timeout", "20s"]);
    expect([ended.code, posts(ended)]).toEqual([0, ["9999 POST /quitquitquit"]]);
    const never = await ebbBeside([], [...named, "--quit-timeout", "600ms"]);
    expect(lineOf(never, "could not shut down the sidecar").request).toBe("POST http://localhost:9901/quitquitquit");
    expect(never.code).toBe(69);
  });

  test("on no such port is not looked for, and what is refused names --admin", async () => {
    const ports = [{ port: 9911, node: {} }];
    const auto = await ebbBeside(ports, ["run", "--detect-timeout", "200ms", ...app]);
    expect(auto).toMatchObject({ code: 5, requests: [] });
    const named = await ebbBeside(ports, ["run", "--sidecar", "envoy", "--wait-timeout", "300ms", ...app], {
      env: { EBB_QUIT_TIMEOUT: "200ms" },
    });
    expect(named).toMatchObject({ code: 69, requests: [] });
    const how =
      "if there is no sidecar in this pod, set --sidecar none; if its admin interface is elsewhere, set --admin URL";
    const said = { sidecar: "envoy", by: "--sidecar", reason: "connection refused", how };
    expect(lineOf(named, "waiting until ready")).toMatchObject(said);
    const failure = `not ready within 300ms: http://localhost:9901/ready: connection refused (envoy, because of --sidecar; ${how})`;
    expect(lineOf(named, "did not start the command: not ready in time").reason).toBe(failure);
    const given = await ebbBeside(ports, ["run", "--admin", "http://localhost:9911", ...app]);
    expect(given).toMatchObject({ code: 5, requests: ["9911 POST /quitquitquit"] });
  });
});

test.skipIf(!canHaveNetwork)(
  "an Envoy that is slow to say what it is has a share of the time that there is",
  async () => {
    const [slow, long] = [{ port: 9901, infoAfterMs: 1500, stats }, "30s"];
    const drain = await ebbBeside([slow], ["drain", "--drain", long, "--min-drain", "0s"]);
    expect(posts(drain)).toContain("9901 POST /drain_listeners");
    const quit = await ebbBeside([slow], ["quit", "--quit-timeout", long]);
    expect(quit).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
    const late = await ebbBeside([{ ...slow, infoAfterMs: 3000 }], ["quit"]);
    expect(late).toMatchObject({ code: 69, requests: [] });
    expect(lineOf(late, "did not shut down a proxy").reason).toMatch(/does not answer: set --sidecar envoy/);
  },
);

describe.skipIf(!canHaveNetwork)("a mesh whose agent listens before its Envoy", () => {
  test("is waited for, and quit once its Envoy has shown what it is", async () => {
    const ports = [{ port: 15021, readyForMs: 60_000 }, { port: 15020 }, { port: 15000, afterMs: 400 }];
    const ended = await ebbBeside(ports, ["run", "--detect-timeout", "100ms", "--", "sleep", "1"]);
    expect(ended).toMatchObject({ code: 0, requests: ["15020 POST /quitquitquit"] });
    expect(ended.log.filter(({ msg }) => msg === "ebb: found")).toHaveLength(1);
  });

  test("is the mesh's, not a plain Envoy, if the agent passes its Envoy's answer on, as kuma-dp does", async () => {
    const agent: Port = { port: 9902, node: { metadata: { "dataplane.proxyType": "dataplane" } } };
    const ended = await ebbBeside([agent], ["run", ...app]);
    expect(ended).toMatchObject({ code: 5, requests: [] });
    expect(lineOf(ended, "found").sidecars).toEqual(["kuma"]);
  });
});

describe.skipIf(!canHaveNetwork)("an app that listens where an Envoy might", () => {
  test.each([200, 302, 404, 503])("is neither waited for nor quit: it answers %d", async (status) => {
    for (const port of [9901, 15000]) {
      const ended = await ebbBeside([{ port, app: status }], ["run", "--detect-timeout", "200ms", ...app]);
      expect(ended).toMatchObject({ code: 5, requests: [`${port} GET /server_info`] });
      expect(ended.log.map(({ msg }) => msg)).toEqual([
        "ebb: no sidecar found",
        "ebb: started the command",
        "ebb: done",
      ]);
      expect((await ebbBeside([{ port, app: status }], ["quit"])).code).toBe(0);
    }
  });

  test("does not hide the Envoy that is on another such port", async () => {
    const ended = await ebbBeside([{ port: 9901, app: 404 }, odd], ["run", ...app]);
    expect(posts(ended)).toEqual(["8001 POST /quitquitquit"]);
  });

  test("is asked at no other port, and never on a port that it declares", async () => {
    const ports = [
      { port: 7001, app: 200 },
      { port: 8001, app: 200 },
      { port: 9901, app: 200 },
    ];
    const env = { EBB_APP_PORT: "8001,9901" };
    const ended = await ebbBeside(ports, ["run", "--detect-timeout", "500ms", ...app], { env });
    expect(ended).toMatchObject({ code: 5, requests: [] });
  });

  test("that never answers holds nothing up", async () => {
    const ended = await ebbBeside(
      [{ port: 9901, hangs: true, app: 200 }],
      ["run", "--detect-timeout", "200ms", ...app],
    );
    expect(ended.code).toBe(5);
    expect(posts(ended)).toEqual([]);
  });
});

describe.skipIf(!canHaveNetwork)("where no sidecar is found, the log names the other ports that listen", () => {
  const none = ["--detect-timeout", "50ms"];
  const envoy: Port = { port: 9999, node: {} };
  const how = (port: number | string) =>
    `if one of them is an Envoy's admin interface, set --admin http://localhost:${port}; if it is the app's, set --app-port ${port}; if there is no sidecar, set --sidecar none`;

  test.each<[string, readonly Port[], Readonly<Record<string, unknown>>]>([
    ["one on loopback: a warning", [envoy], { level: "warn", ports: [9999], onLoopback: [9999], how: how(9999) }],
    [
      "one on ::1, beside one that other pods reach: a warning",
      [
        { ...envoy, host: "::1" },
        { port: 80, host: "0.0.0.0" },
      ],
      { level: "warn", ports: [80, 9999], onLoopback: [9999], how: how(9999) },
    ],
    [
      "several on loopback: a warning",
      [envoy, { port: 9998 }],
      { level: "warn", ports: [9998, 9999], onLoopback: [9998, 9999], how: how("PORT") },
    ],
    [
      "one that other pods reach",
      [{ ...envoy, host: "0.0.0.0" }],
      { level: "info", ports: [9999], onLoopback: [], how: how(9999) },
    ],
  ])("%s", async (_, ports, line) => {
    const run = await ebbBeside(ports, ["run", ...none, ...app]);
    expect(lineOf(run, "no sidecar found")).toMatchObject(line);
    expect(run).toMatchObject({ code: 5, requests: [] });
    const quit = await ebbBeside(ports, ["quit"]);
    expect(lineOf(quit, "no sidecar found")).toMatchObject(line);
  });

  test("and not the app's; with those known it is no warning", async () => {
    const env = { EBB_APP_PORT: "8080" };
    const run = await ebbBeside([envoy, { port: 8080, app: 200 }], ["run", ...none, ...app], { env });
    expect(lineOf(run, "no sidecar found")).toMatchObject({ level: "info", ports: [9999], onLoopback: [9999] });
    const apps = await ebbBeside([{ port: 8080, app: 200 }], ["run", ...none, "--app-port", "8080", ...app]);
    expect(lineOf(apps, "no sidecar found").ports).toBeUndefined();
  });

  test("and not in status, which lists what listens", async () => {
    const status = await ebbBeside([envoy], ["status"]);
    expect(status.stderr).not.toContain("no sidecar found");
  });
});

describe.skipIf(!canHaveNetwork)("on a network that is not shown to be the pod's own", () => {
  const there: Port = { port: 9901, node: { id: "gateway" } };

  test.each<[string, Hosts, readonly string[]]>([
    ["the node's, by the kubelet's /etc/hosts", "node", []],
    ["the node's, by the injector's word", "own", ["--host-network"]],
    ["one of which nothing tells", "machine", []],
  ])("no port is believed, and the log says what to name: %s", async (_, hosts, flags) => {
    const network = { hosts };
    const run = await ebbBeside([there], ["run", ...flags, ...app], network);
    expect(run).toMatchObject({ code: 5, requests: [] });
    const ways =
      hosts === "machine"
        ? /this is not a pod\. If .*--sidecar .*--admin .*--host-network=false$/
        : /--sidecar .*--admin/;
    expect(lineOf(run, "no sidecar found")).toMatchObject({ lookedMs: 0, reason: expect.stringMatching(ways) });
    expect(lineOf(run, "did not shut down a proxy").reason).toMatch(/^port 9901 suggests envoy/);
    const quit = await ebbBeside([there], ["quit", ...flags], network);
    expect(quit).toMatchObject({ code: 69, requests: [] });
    expect(lineOf(quit, "did not shut down a proxy").level).toBe("error");
    const drain = await ebbBeside([there], ["drain", ...flags, ...fast, "--then-quit"], network);
    expect(drain).toMatchObject({ code: 69, requests: [] });
    expect(lineOf(drain, "did not drain or shut down a proxy").reason).toMatch(ways);
  });

  test("in a pod that has an /etc/hosts of its own the log does not say that this is not a pod", async () => {
    const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
    const run = await ebbBeside([there], ["run", ...app], { hosts: "copied", env });
    const reason = expect.stringMatching(/^\/etc\/hosts does not show .*--sidecar .*--host-network=false/);
    expect(lineOf(run, "no sidecar found")).toMatchObject({ level: "info", lookedMs: 0, reason });
  });

  test("no ports are named", async () => {
    for (const hosts of ["node", "machine"] as const) {
      const run = await ebbBeside([{ port: 9999, node: {} }], ["run", ...app], { hosts });
      const line = lineOf(run, "no sidecar found");
      expect([line.level, line.ports, line.onLoopback]).toEqual(["info", undefined, undefined]);
    }
  });

  test("an /etc/hosts that the kubelet is just writing is read once it is written", async () => {
    const run = await ebbBeside([there], ["run", ...app], { hosts: "rewritten" });
    expect(run).toMatchObject({ code: 5, requests: ["9901 POST /quitquitquit"] });
  });

  test("run drains nothing there either", async () => {
    const ended = await ebbBeside([there], ["run", ...fast, "--", "sleep", "0.3"], { hosts: "node" });
    expect(ended).toMatchObject({ code: 0, requests: [] });
  });

  test("where no usual port listens quit has nothing to do", async () => {
    expect(await ebbBeside([{ port: 80, app: 200 }], ["quit"], { hosts: "node" })).toMatchObject({ code: 0 });
  });

  test("status says it, and request sends nothing", async () => {
    const status = await ebbBeside([there], ["status", "--json"], { hosts: "node" });
    const { sidecars, findings } = JSON.parse(status.stdout);
    expect(sidecars).toEqual([]);
    expect(findings).toContainEqual({ kind: "not-proved", message: expect.stringContaining("--sidecar envoy") });
    const request = await ebbBeside([there], ["request", "POST", "/quitquitquit"], { hosts: "node" });
    expect(request).toMatchObject({ code: 69, requests: [] });
    expect(request.stderr).toContain("--admin");
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["its name with its port", ["--sidecar", "envoy:9901"], {}],
    ["its admin interface", ["--admin", "http://localhost:9901"], {}],
    ["a variable", [], { ENVOY_ADMIN_API: "http://localhost:9901" }],
  ])("what is named is believed: by %s", async (_, flags, env) => {
    for (const hosts of ["node", "machine"] as const) {
      const run = await ebbBeside([there], ["run", ...flags, ...app], { hosts, env });
      expect(run).toMatchObject({ code: 5, requests: ["9901 POST /quitquitquit"] });
      const quit = await ebbBeside([there], ["quit", ...flags], { hosts, env });
      expect(quit).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
    }
  });

  test("an annotation is believed", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    await Bun.write(path, 'kuma.io/sidecar-injected="true"\nkuma.io/envoy-admin-port="9901"\n');
    const ports = [there, { port: 9902 }];
    const quit = await ebbBeside(ports, ["quit", "--pod-annotations", path], { hosts: "node" });
    expect(quit).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
  });

  test("a user who says that the network is the pod's own is believed", async () => {
    const ended = await ebbBeside([there], ["quit", "--host-network=false"], { hosts: "machine" });
    expect(ended).toMatchObject({ code: 0, requests: ["9901 POST /quitquitquit"] });
  });
});
