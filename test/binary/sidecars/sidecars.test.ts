import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebbPath, isQuitLine, lineOf, temporaryFolder } from "../../harness/ebb.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { canHaveNetwork, ebbBeside, found, type InNetwork, posts } from "./own-network.ts";

const app = ["--", childPath(), "exit", "5"];

const annotated = 'vault.hashicorp.com/agent-inject-status="injected"\n';

function quitOf({ log }: InNetwork, name: string) {
  return log.find((line) => isQuitLine(line) && line.sidecar === name);
}

async function annotations(folder: string, text: string): Promise<readonly string[]> {
  const path = join(folder, "annotations");
  await Bun.write(path, text);
  return ["--pod-annotations", path];
}

describe.skipIf(!canHaveNetwork)("each sidecar, in a network of its own (which needs root)", () => {
  test.each<[string, readonly Port[], Record<string, string>, string]>([
    ["dapr", [{ port: 3500 }], { DAPR_HTTP_PORT: "3500" }, "3500 POST /v1.0/shutdown"],
    ["dapr", [{ port: 3600 }], { DAPR_HTTP_PORT: "3600" }, "3600 POST /v1.0/shutdown"],
    [
      "cloud-sql-proxy",
      [{ port: 9095 }],
      { CSQL_PROXY_QUIT_URLS: "http://localhost:9095/quitquitquit" },
      "9095 POST /quitquitquit",
    ],
  ])("%s is found by its variable, waited for and quit once", async (name, ports, env, request) => {
    const late = ports.map((port) => ({ ...port, afterMs: 300 }));
    const ended = await ebbBeside(late, ["run", ...app], { env });
    expect(ended).toMatchObject({ code: 5, requests: [request] });
    expect(found(ended)).toEqual([name]);
    expect(quitOf(ended, name)).toMatchObject({
      level: "info",
      outcome: expect.stringMatching(/^(exited$|its port is closed: )/),
    });
  });

  test("one that --sidecar names beside auto is quit at its port, and the mesh's proxy is found", async () => {
    const ports = [{ port: 9092, afterMs: 300 }, ...[15000, 15020, 15021].map((port) => ({ port }))];
    const ended = await ebbBeside(ports, ["run", ...app], { env: { EBB_SIDECAR: "auto,cloud-sql-proxy:9092" } });
    expect(found(ended)).toEqual(["cloud-sql-proxy", "istio"]);
    expect(ended.requests.toSorted()).toEqual(["15020 POST /quitquitquit", "9092 POST /quitquitquit"]);
  });

  test("one that --sidecar names beside auto is enough where nothing else is", async () => {
    const ports = [{ port: 9091, afterMs: 300 }];
    const ended = await ebbBeside(ports, ["run", "--sidecar", "auto,alloydb-auth-proxy", ...app]);
    expect(found(ended)).toEqual(["alloydb-auth-proxy"]);
    expect(ended).toMatchObject({ code: 5, requests: ["9091 POST /quitquitquit"] });
  });

  test("a companion does not hide the mesh's proxy, nor the other way round", async () => {
    using folder = temporaryFolder();
    const ports = [3500, 15000, 15020, 15021, 8200].map((port) => ({ port }));
    const flags = await annotations(folder.path, annotated);
    const ended = await ebbBeside(ports, ["run", ...flags, ...app], { env: { DAPR_HTTP_PORT: "3500" } });
    expect(found(ended)).toEqual(["istio", "dapr", "vault-agent"]);
    expect(ended.requests.toSorted()).toEqual([
      "15020 POST /quitquitquit",
      "3500 POST /v1.0/shutdown",
      "8200 POST /agent/v1/quit",
    ]);
  });

  test("a companion that is not ready yet leaves the proxy time to come", async () => {
    const ports = [
      { port: 3500, afterMs: 900 },
      { port: 15000, afterMs: 300 },
      { port: 15020, afterMs: 300 },
      { port: 15021, afterMs: 300 },
    ];
    const ended = await ebbBeside(ports, ["run", ...app], { env: { DAPR_HTTP_PORT: "3500" } });
    expect(found(ended)).toEqual(["istio", "dapr"]);
    expect(ended.requests.toSorted()).toEqual(["15020 POST /quitquitquit", "3500 POST /v1.0/shutdown"]);
  });

  test("a companion that is ready ends the look for a proxy before --detect-timeout does", async () => {
    const env = { DAPR_HTTP_PORT: "3500" };
    const ended = await ebbBeside([{ port: 3500 }], ["run", "--detect-timeout", "10m", ...app], { env });
    expect(ended).toMatchObject({ code: 5, requests: ["3500 POST /v1.0/shutdown"] });
  });

  test("Dapr's token is sent, and never logged", async () => {
    const env = { DAPR_HTTP_PORT: "3500", DAPR_API_TOKEN: "s3cret" };
    const flags = ["--log-level", "debug"];
    const ended = await ebbBeside([{ port: 3500, token: "s3cret" }], ["run", ...flags, ...app], { env });
    expect(quitOf(ended, "dapr")).toMatchObject({ level: "info", status: 200 });
    expect(ended.stdout + ended.stderr).not.toContain("s3cret");
  });

  test.each<[string, Record<string, string>, readonly string[], number]>([
    ["none", {}, [], 69],
    ["another", { DAPR_API_TOKEN: "other" }, [], 69],
    ["the user's, which comes first", { DAPR_API_TOKEN: "other" }, ["--header", "Dapr-Api-Token: s3cret"], 0],
  ])("Dapr's token: %s", async (_, env, flags, code) => {
    const ended = await ebbBeside([{ port: 3500, token: "s3cret" }], ["quit", "--sidecar", "dapr", ...flags], { env });
    expect(ended.code).toBe(code);
    if (code !== 0) expect(quitOf(ended, "dapr")?.outcome).toMatch(/^HTTP 401: .*DAPR_API_TOKEN/);
  });

  test.each<[string, readonly Port[], RegExp]>([
    [
      "consul",
      [{ port: 20600, stays: true }],
      /^answered, still draining: it exits by itself after its shutdown grace period \(30s/,
    ],
    [
      "cloud-sql-proxy",
      [{ port: 9091, stays: true }],
      /^answered, still draining: it exits by itself after --min-sigterm-delay/,
    ],
    [
      "dapr",
      [{ port: 3500, stays: true }],
      /^answered, still draining: it exits by itself when its graceful shutdown is over/,
    ],
    [
      "linkerd",
      [{ port: 4191, stays: true }],
      /^answered, still draining: it exits by itself when its connections have ended/,
    ],
  ])("%s, which goes later by itself, has taken its quit", async (name, ports, outcome) => {
    for (const [command, code] of [
      [["quit"], 0],
      [["run", "--no-wait", ...app], 5],
    ] as const) {
      const [verb, ...rest] = command;
      const ended = await ebbBeside(ports, [verb, "--sidecar", name, "--quit-timeout", "2s", ...rest]);
      expect(ended.code).toBe(code);
      expect(quitOf(ended, name)?.level).toBe("info");
      expect(quitOf(ended, name)?.outcome).toMatch(outcome);
    }
  });

  test.each<[string, readonly Port[], RegExp]>([
    ["kuma", [{ port: 9902 }], /^connection refused: .*unix socket.*envoyAdminUnixSocket=false/],
    ["vault-agent", [], /^connection refused: .*agent-enable-quit: "true"/],
    ["cloud-sql-proxy", [{ port: 5432 }], /^connection refused: .*--quitquitquit/],
  ])("%s, whose quit is switched off, is not said to be gone", async (name, ports, outcome) => {
    for (const [verb, ...rest] of [["quit"], ["run", ...app]] as const) {
      const ended = await ebbBeside(ports, [verb as string, "--sidecar", name, "--quit-timeout", "500ms", ...rest]);
      expect(ended.code).toBe(verb === "quit" ? 69 : 5);
      expect(quitOf(ended, name)?.outcome).toMatch(outcome);
    }
  });

  test.each<[string, readonly Port[], string, RegExp]>([
    ["is leaving already", [{ port: 15021, readyForMs: 1000 }], "info", /^was exiting already$/],
    ["is gone already", [{ port: 15021, goesAfterMs: 1000 }], "info", /^had exited already$/],
    ["has no quit there", [{ port: 15021 }], "warn", /^connection refused: pilot-agent's status port is closed/],
  ])("istio, whose quit port is closed at the end, %s", async (_, ports, level, outcome) => {
    const ended = await ebbBeside(ports, ["run", "--sidecar", "istio", "--", "sleep", "1.5"]);
    expect(ended.code).toBe(0);
    expect(quitOf(ended, "istio")?.outcome).toMatch(outcome);
    expect(quitOf(ended, "istio")?.level).toBe(level);
  });

  test("Consul's Envoy is quit at once, and its lifecycle server where that is nowhere else", async () => {
    const both = await ebbBeside([{ port: 19000 }, { port: 20600 }], ["quit", "--sidecar", "consul"]);
    expect(both.requests).toEqual(["19000 POST /quitquitquit"]);
    const one = await ebbBeside([{ port: 20600 }], ["quit", "--sidecar", "consul"]);
    expect(one.requests).toEqual(["20600 POST /graceful_shutdown"]);
    expect(quitOf(one, "consul")).toMatchObject({
      request: "POST http://localhost:20600/graceful_shutdown",
      outcome: "exited",
    });
  });

  test("Linkerd's admin port closes when it begins to drain, which is not its end", async () => {
    const ended = await ebbBeside([{ port: 4191 }], ["quit", "--sidecar", "linkerd"]);
    expect(ended.code).toBe(0);
    expect(quitOf(ended, "linkerd")?.outcome).toMatch(/^its port is closed: it exits by itself when/);
  });

  test("Vault Agent is told once, whatever becomes of the answer", async () => {
    const ended = await ebbBeside([{ port: 8200, cuts: true }], ["quit", "--sidecar", "vault-agent"]);
    expect(ended).toMatchObject({ code: 0, requests: ["8200 POST /agent/v1/quit"] });
    expect(quitOf(ended, "vault-agent")).toMatchObject({ outcome: "exited" });
  });

  test("Vault Agent is not told again by a server that fails", async () => {
    const ended = await ebbBeside([{ port: 8200, quit: 503 }], ["quit", "--sidecar", "vault-agent"]);
    expect(ended).toMatchObject({ code: 69, requests: ["8200 POST /agent/v1/quit"] });
  });

  test("the Cloud SQL proxy without an admin server is ready once its database's port is open", async () => {
    const ports = [{ port: 3306, afterMs: 300 }] as const;
    const ended = await ebbBeside(ports, ["wait", "--sidecar", "cloud-sql-proxy", "--wait-timeout", "10s"]);
    expect(ended.code).toBe(0);
    expect(ended.log.at(-1)?.target).toMatch(/tcp:\/\/localhost:9091 or .*tcp:\/\/localhost:3306/);
  });

  test.each<[string, readonly Port[], number]>([
    ["its socket's Envoy, through kuma-dp", [{ port: 9902 }], 0],
    ["its Envoy's own, where kuma-dp has no readiness port", [{ port: 9901 }], 0],
    ["not kuma-dp's word alone, where the admin interface is on TCP", [{ port: 9902, ready: "READY" }], 69],
    [
      "its Envoy's own beside that word",
      [
        { port: 9902, ready: "READY" },
        { port: 9901, afterMs: 300 },
      ],
      0,
    ],
  ])("Kuma's readiness is %s", async (_, ports, code) => {
    const ended = await ebbBeside(ports, ["wait", "--sidecar", "kuma", "--wait-timeout", code === 0 ? "10s" : "700ms"]);
    expect(ended.code).toBe(code);
  });

  test("a reason that stays is said once, where several places are asked", async () => {
    const ports = [{ port: 9902, readyForMs: 0 }] as const;
    const ended = await ebbBeside(ports, ["wait", "--sidecar", "kuma", "--wait-timeout", "1s"]);
    expect(ended.code).toBe(69);
    const reasons = ended.log.filter(({ msg }) => msg === "ebb: waiting until ready").map(({ reason }) => reason);
    expect(reasons).toContain('HTTP 503 "DRAINING", connection refused');
    expect(reasons.filter((reason, at) => reason === reasons[at - 1])).toEqual([]);
  });

  test("one that its injector's annotation shows is never said to be none", async () => {
    using folder = temporaryFolder();
    const flags = await annotations(folder.path, 'sidecar.istio.io/status="{\\"containers\\":[\\"istio-proxy\\"]}"\n');
    const limits = ["--wait-timeout", "200ms", "--quit-timeout", "200ms"];
    const ended = await ebbBeside([], ["run", ...flags, ...limits, ...app]);
    expect(lineOf(ended, "waiting until ready")).toMatchObject({
      by: "annotation sidecar.istio.io/status",
      how: expect.stringMatching(/^its injector's annotation proves that it is in this pod: /),
    });
    expect(quitOf(ended, "istio")?.outcome).toStartWith("connection refused: it has not started, or ");
    expect(ended.stderr).not.toContain("--sidecar none");
    expect(ended.stderr).not.toContain("there is no");
  });

  test.each([
    ["run", ["--ready", "tcp://127.0.0.1:5432", ...app], "cloud-sql-proxy, tcp://127.0.0.1:5432"],
    ["wait", [], "cloud-sql-proxy"],
  ])("ebb %s that ends while it still looks names what it has not asked", async (name, args, later) => {
    const flags = ["--sidecar", "auto,cloud-sql-proxy:9092", "--wait-timeout", "300ms"];
    const { code, stderr } = await ebbBeside([], [name, ...flags, ...args], { env: { EBB_QUIT_TIMEOUT: "200ms" } });
    expect({ code, stderr }).toEqual({
      code: 69,
      stderr: expect.stringContaining(
        `not ready within 300ms: still looking for sidecars, and not asked yet: ${later}`,
      ),
    });
  });

  test("the Cloud SQL proxy without --quitquitquit is explained", async () => {
    const ended = await ebbBeside([], ["quit", "--sidecar", "cloud-sql-proxy", "--quit-timeout", "300ms"]);
    expect(quitOf(ended, "cloud-sql-proxy")?.outcome).toMatch(/^connection refused: .*--quitquitquit/);
  });

  test("Vault Agent is quit at the port of its annotation, and waited for by nobody", async () => {
    using folder = temporaryFolder();
    const text = `${annotated}vault.hashicorp.com/agent-cache-listener-port="8300"\n`;
    const flags = await annotations(folder.path, text);
    const untilThere = [ebbPath, "wait", "--quiet", "--sidecar", "none", "tcp://localhost:8300"];
    const ended = await ebbBeside([{ port: 8300 }], ["run", ...flags, "--detect-timeout", "0s", "--", ...untilThere]);
    expect(ended).toMatchObject({ code: 0, requests: ["8300 POST /agent/v1/quit"] });
    expect(ended.log.map(({ msg }) => msg)).not.toContain("ebb: ready");
  });
});

describe.skipIf(!canHaveNetwork)("Vault Agent, without an init container that has written the secrets", () => {
  const late = `${annotated}vault.hashicorp.com/agent-pre-populate="false"\nvault.hashicorp.com/agent-enable-quit="true"\n`;

  test("is waited for at its port", async () => {
    using folder = temporaryFolder();
    const flags = await annotations(folder.path, late);
    const args = ["run", ...flags, "--detect-timeout", "50ms", "--", "true"];
    const ended = await ebbBeside([{ port: 8200, afterMs: 500 }], args);
    const messages = ended.log.map(({ msg }) => msg.replace("ebb: ", ""));
    expect(messages.indexOf("ready")).toBeGreaterThan(0);
    expect(messages.indexOf("ready")).toBeLessThan(messages.indexOf("started the command"));
    expect(posts(ended)).toEqual(["8200 POST /agent/v1/quit"]);
  });

  test("is not called ready by ebb status where it is not asked", async () => {
    using folder = temporaryFolder();
    const args = ["status", ...(await annotations(folder.path, annotated))];
    expect((await ebbBeside([], args)).stdout).toStartWith("vault-agent: not asked\n");
    const { stdout } = await ebbBeside([], [...args, "--json"]);
    expect(JSON.parse(stdout).sidecars).toMatchObject([{ name: "vault-agent", ready: null, probes: [] }]);
  });
});
