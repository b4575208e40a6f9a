import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { lineOf, temporaryFolder } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside } from "./own-network.ts";

const app = ["--", childPath(), "exit", "5"];
const fast = ["--drain", "2s", "--min-drain", "0s"];
const quick = ["--quit-timeout", "500ms"];
/** Another pod's programs at the usual ports, which tell of each request, probes too. */
const others = [3500, 4191, 8200, 9091, 9901, 9902, 15000, 15020, 15021, 19000].map(
  (port): Port => ({ port, app: 404 }),
);
const ours: Port = { port: 19_906, node: { id: "hs" } };

const byFlag = { flags: ["--host-network"], hosts: "own" } as const;
const byHosts = { flags: [], hosts: "node" } as const;

async function withAnnotations<T>(text: string, act: (flags: readonly string[]) => Promise<T>): Promise<T> {
  using folder = temporaryFolder();
  const path = join(folder.path, "annotations");
  await Bun.write(path, text);
  return await act(["--pod-annotations", path]);
}

describe.skipIf(!canHaveNetwork)("on the node's network a name is no address (which needs root):", () => {
  test.each([byFlag, byHosts])(
    "run and wait refuse a name alone, and say what to write: %j",
    async ({ flags, hosts }) => {
      for (const [call, env] of [
        [["run", "--sidecar", "envoy"], {}],
        [["run", "--no-wait"], { EBB_SIDECAR: "auto,envoy" }],
        [["run", "--sidecar", "envoy", "--quit", "none", "--ready", "tcp://localhost:19906"], {}],
        [["wait", "--sidecar", "envoy"], {}],
        [["wait", "--sidecar", "envoy", "--quit", "http://localhost:19906/quitquitquit"], {}],
      ] as const) {
        const ended = await ebbBeside(others, [...call, ...flags, ...app], { hosts, env });
        expect(ended).toMatchObject({ code: 64, requests: [] });
        expect(ended.stderr).toBe(
          `ebb: ${call[0]}: nothing names the address of envoy, and on the node's network its usual ports may be another pod's: set --sidecar envoy:PORT or --admin http://127.0.0.1:PORT\n`,
        );
      }
    },
  );

  test("each name that lacks an address is named", async () => {
    const names = ["--sidecar", "envoy:19906,linkerd,dapr,vault-agent"];
    const env = { DAPR_HTTP_PORT: "3500" };
    const ended = await ebbBeside(others, ["run", "--host-network", ...names, ...app], { env });
    expect(ended).toMatchObject({ code: 64, requests: [] });
    expect(ended.stderr).toMatch(/^.*linkerd:PORT or .*\n.*vault-agent:PORT\n$/);
  });

  test.each([byFlag, byHosts])("the other commands ask nothing, and say what to name: %j", async ({ flags, hosts }) => {
    for (const [call, message] of [
      [["quit", ...quick], "did not shut down a proxy"],
      [["drain", ...fast], "did not drain a proxy"],
      [["drain", ...fast, "--then-quit", ...quick], "did not drain or shut down a proxy"],
    ] as const) {
      const ended = await ebbBeside(others, [...call, "--sidecar", "envoy", ...flags], { hosts });
      expect(ended).toMatchObject({ code: 69, requests: [] });
      const reason = expect.stringContaining("set --sidecar envoy:PORT or --admin");
      expect(lineOf(ended, message)).toMatchObject({ level: "error", reason });
    }
    const status = await ebbBeside(others, ["status", "--json", "--sidecar", "envoy", ...flags], { hosts });
    expect(status).toMatchObject({ code: 0, requests: [] });
    const { sidecars, findings } = JSON.parse(status.stdout);
    expect(sidecars).toEqual([]);
    const message = expect.stringContaining("--sidecar envoy:PORT");
    expect(findings).toContainEqual({ kind: "not-proved", message });
    for (const name of ["envoy", "linkerd"]) {
      const request = await ebbBeside(others, ["request", "--sidecar", name, ...flags, "/stats"], { hosts });
      expect(request).toMatchObject({ code: 69, requests: [] });
      expect(request.stderr).toContain(`set --sidecar ${name}:PORT`);
    }
  });

  test("with its port beside it, it is one, for each command", async () => {
    const named = ["--host-network", "--sidecar", "envoy:19906"];
    const ports = [...others, ours];
    const quit = "19906 POST /quitquitquit";
    const run = await ebbBeside(ports, ["run", ...named, ...app]);
    expect(run).toMatchObject({ code: 5, requests: [quit] });
    expect(lineOf(run, "ready").target).toBe("http://localhost:19906/ready");
    expect(await ebbBeside(ports, ["wait", ...named, ...app])).toMatchObject({ code: 5, requests: [] });
    expect(await ebbBeside(ports, ["quit", ...named])).toMatchObject({ code: 0, requests: [quit] });
    const drain = await ebbBeside(ports, ["drain", ...named, ...fast]);
    expect(drain.requests.filter((one) => !one.startsWith("19906 "))).toEqual([]);
    expect(drain.requests).toContain("19906 POST /drain_listeners");
    const request = await ebbBeside(ports, ["request", ...named, "/stats"]);
    expect(request).toMatchObject({ code: 0, requests: ["19906 GET /stats"] });
    const status = await ebbBeside(ports, ["status", "--json", ...named]);
    expect(JSON.parse(status.stdout).sidecars).toMatchObject([{ name: "envoy", ready: true }]);
  });

  test.each<[string, number, string]>([
    ["linkerd", 4999, "shutdown"],
    ["kuma", 9901, "quitquitquit"],
    ["istio", 15_000, "quitquitquit"],
  ])("what stands on another port than that is not asked: %s", async (name, port, path) => {
    const ports = [...others.filter((one) => one.port !== port), { port, node: {} }];
    const run = await ebbBeside(ports, ["run", "--host-network", "--sidecar", `${name}:${port}`, ...app]);
    expect(run).toMatchObject({ code: 5, requests: [`${port} POST /${path}`] });
    const request = await ebbBeside(ports, ["request", "--host-network", "--sidecar", `${name}:${port}`, "/stats"]);
    expect(request.requests).toEqual([`${port} GET /stats`]);
  });

  test("an annotation that names a sidecar starts the app with a warning, one with a port is asked", async () => {
    const annotation = 'kuma.io/sidecar-injected="true"\n';
    await withAnnotations(annotation, async (file) => {
      const run = await ebbBeside(others, ["run", "--host-network", ...file, ...fast, ...app]);
      expect(run).toMatchObject({ code: 5, requests: [] });
      const reason = expect.stringContaining("set --sidecar kuma:PORT or --admin");
      for (const message of ["did not wait for a proxy", "did not shut down a proxy"])
        expect(lineOf(run, message)).toMatchObject({ level: "warn", reason });
      expect(await ebbBeside(others, ["wait", "--host-network", ...file])).toMatchObject({ code: 0, requests: [] });
      expect(await ebbBeside(others, ["quit", "--host-network", ...file])).toMatchObject({ code: 69, requests: [] });
    });
    await withAnnotations(`${annotation}kuma.io/envoy-admin-port="19906"\n`, async (file) => {
      const run = await ebbBeside([...others, ours], ["run", "--host-network", ...file, ...app]);
      expect(run).toMatchObject({ code: 5, requests: ["19906 POST /quitquitquit"] });
      expect(lineOf(run, "ready").target).toBe("http://localhost:19906/ready");
    });
  });

  test("a quit that is named is sent there; nothing else is asked, and what is not done is said", async () => {
    const quit = "http://localhost:19906/quitquitquit";
    for (const [flags, env] of [
      [["--sidecar", "envoy", "--quit", quit], {}],
      [[], { ISTIO_QUIT_API: "http://localhost:19906" }],
    ] as const) {
      const run = await ebbBeside([...others, ours], ["run", "--host-network", ...flags, ...app], { env });
      expect(run).toMatchObject({ code: 5, requests: ["19906 POST /quitquitquit"] });
      expect(lineOf(run, "did not wait for a proxy").level).toBe("warn");
      const ended = await ebbBeside([...others, ours], ["quit", "--host-network", ...flags], { env });
      expect(ended).toMatchObject({ code: 0, requests: ["19906 POST /quitquitquit"] });
    }
  });

  test("a stop signal says that no name is drained", async () => {
    await withAnnotations('kuma.io/sidecar-injected="true"\n', async (file) => {
      const stopped = ["sh", "-c", "trap 'exit 7' TERM; kill -TERM 1; while :; do sleep 0.01; done"];
      const run = await ebbBeside(others, ["run", "--host-network", ...file, ...fast, "--", ...stopped]);
      expect(run).toMatchObject({ code: 7, requests: [] });
      expect(lineOf(run, "did not drain a proxy").reason).toContain("set --sidecar kuma:PORT");
    });
  });

  test("the ports of Dapr's and Cloud SQL's variables, and of linkerd-await, are named", async () => {
    const env = { DAPR_HTTP_PORT: "3501", CSQL_PROXY_QUIT_URLS: "http://localhost:9092/quitquitquit" };
    const ports: readonly Port[] = [...others, { port: 3501 }, { port: 9092 }];
    const run = await ebbBeside(ports, ["run", "--host-network", ...app], { env });
    expect(run.code).toBe(5);
    expect(run.requests.toSorted()).toEqual(["3501 POST /v1.0/shutdown", "9092 POST /quitquitquit"]);
    for (const [flags, port] of [
      [[], 4191],
      [["--port=4999"], 4999],
    ] as const) {
      const there = [...others.filter((one) => one.port !== port), { port }];
      const call = ["linkerd-await", "--shutdown", ...flags, ...app];
      const ended = await ebbBeside(there, call, { hosts: "node" });
      expect(ended).toMatchObject({ code: 5, requests: [`${port} POST /shutdown`] });
    }
  });

  test("valet, which names Istio by itself, starts the app with a warning", async () => {
    const ended = await ebbBeside(others, ["valet", ...app.slice(1)], { hosts: "node" });
    expect(ended).toMatchObject({ code: 5, requests: [] });
    expect(lineOf(ended, "did not wait for a proxy").reason).toContain("set --sidecar istio:PORT");
  });

  test("where nothing tells whose the network is, a name has its usual ports", async () => {
    const named = ["--sidecar", "envoy"];
    const run = await ebbBeside([{ port: 9901 }], ["run", ...named, ...app], { hosts: "machine" });
    expect(run).toMatchObject({ code: 5, requests: ["9901 POST /quitquitquit"] });
  });
});
