import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Snapshot } from "../../../src/pod/status/core/snapshot.ts";
import { canUnshare, ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { listenersOf, serving } from "../../stand-in/envoy-answers.ts";
import { canHaveNetwork, ebbBeside, namespaces } from "../sidecars/own-network.ts";
import { none, statusOf } from "./status-of.ts";

const kindsOf = ({ findings }: Snapshot): readonly string[] => findings.map(({ kind }) => kind);

const anyCounts = expect.any(Object);

test("--json has the shape that the README documents, and nothing else", async () => {
  await using admin = await startEnvoy({ "/listeners": { body: listenersOf("in", "0.0.0.0") } });
  admin.stats = serving(0);
  const seen = await statusOf(["--admin", admin.url]);
  const own = seen.sockets?.listening.filter(({ port }) => port === admin.port);
  expect({ ...seen, sockets: { ...seen.sockets, listening: own } }).toEqual({
    version: 1,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    foundBy: "--admin",
    sidecars: [
      {
        name: "envoy",
        native: false,
        ready: true,
        probes: [{ target: `${admin.url}/ready`, ready: true, reason: null }],
        envoy: {
          admin: admin.url,
          problems: [],
          state: "LIVE",
          release: "1.40.0",
          uptimeMs: 90_000,
          epoch: 1,
          drainStrategy: "gradual",
          drainTimeMs: 600_000,
          drained: 0,
          inFlight: { requests: 0, connections: 0, hasRequests: true, countedBy: "listeners" },
          listeners: [{ name: "in", address: "0.0.0.0:80", direction: null, connections: 4 }],
        },
      },
    ],
    sockets: {
      listening: [
        {
          ...{ protocol: "tcp", address: "127.0.0.1", port: admin.port, pid: process.pid, process: expect.any(String) },
          ...{ backlog: expect.any(Number), connections: anyCounts },
        },
      ],
      outgoing: anyCounts,
    },
    processes: {
      count: expect.any(Number),
      unreadable: expect.any(Number),
      shared: seen.processes?.shared as boolean,
      init: {
        ...{ pid: 1, name: expect.any(String), command: expect.any(Array) },
        ...{ state: expect.any(String), ageMs: expect.any(Number) },
      },
      initIsEbb: false,
      child: null,
      zombies: expect.any(Array),
      appEnded: null,
      appSeen: true,
    },
    findings: expect.any(Array),
  });
  const asked = ["/config_dump", "/config_dump", "/listeners", "/ready", "/server_info", "/stats"];
  expect(admin.allRequests.toSorted()).toEqual(asked.map((path) => `GET ${path}`));
});

test("the text says the same", async () => {
  await using admin = await startEnvoy();
  admin.state = "DRAINING";
  admin.stats = serving(2);
  const { code, stdout } = await ebb(["status", "--admin", admin.url]);
  expect(code).toBe(0);
  expect(stdout).toStartWith("envoy: DRAINING, NOT READY\n");
  expect(stdout).toContain(`127.0.0.1:${admin.port}`);
  expect(stdout).toMatch(/^! envoy is draining: .*; 2 requests and 0 connections still in flight$/m);
  expect(stdout).toContain('HTTP 503 "DRAINING"');
});

describe("an admin interface that does not answer as it should is a finding, and delays nothing else:", () => {
  test("it hangs on one path of its admin interface", async () => {
    await using admin = await startEnvoy();
    admin.answers["/stats"] = "hanging";
    const [sidecar] = (await statusOf(["--admin", admin.url])).sidecars;
    expect(sidecar?.envoy).toMatchObject({ state: "LIVE", inFlight: null, problems: ["/stats: no answer in time"] });
    expect(sidecar?.ready).toBe(true);
  });

  test("it hangs on all", async () => {
    await using admin = await startEnvoy();
    for (const path of ["/stats", "/server_info", "/listeners", "/config_dump", "/ready"]) {
      admin.answers[path] = "hanging";
    }
    const seen = await statusOf(["--admin", admin.url]);
    expect(seen.sidecars[0]).toMatchObject({ ready: false, envoy: { state: null, problems: ["no answer in time"] } });
    expect(seen.sidecars[0]?.probes[0]?.reason).toBe("no answer within 2s");
    expect(kindsOf(seen)).toEqual(expect.arrayContaining(["not-ready", "admin"]));
  });

  test("403, garbage, a broken connection, and an answer that is too long", async () => {
    await using admin = await startEnvoy();
    admin.answers["/server_info"] = { status: 403, body: "Forbidden" };
    admin.answers["/listeners"] = { body: "{[" };
    admin.answers["/config_dump"] = "resetting";
    admin.answers["/stats"] = { body: "x".repeat(5 * 1024 * 1024) };
    const { problems } = (await statusOf(["--admin", admin.url])).sidecars[0]?.envoy ?? {};
    expect(problems).toEqual([
      '/server_info: HTTP 403 "Forbidden"',
      "/stats: an answer longer than 4 MiB",
      "/listeners: not what an Envoy answers",
      "/config_dump: the connection was closed before the answer was complete",
    ]);
  });

  test("nobody listens", async () => {
    const seen = await statusOf(["--sidecar", "envoy", "--admin", "http://127.0.0.1:1"]);
    expect(seen).toMatchObject({ foundBy: "--sidecar", sidecars: [{ envoy: { problems: ["connection refused"] } }] });
  });
});

test("a sidecar that has nothing to ask is neither ready nor not ready", async () => {
  const seen = await statusOf(["--sidecar", "vault-agent"]);
  expect(seen.sidecars).toMatchObject([{ name: "vault-agent", ready: null, probes: [] }]);
});

describe.skipIf(!canHaveNetwork)("in a network of its own", () => {
  test.each([
    ["nothing", [], [], null],
    ["Istio", [{ port: 15021 }, { port: 15000 }], ["istio"], "port 15021"],
    ["Linkerd", [{ port: 4191 }], ["linkerd"], "port 4191"],
  ])("ebb status finds %s by what listens", async (_, sidecars, names, foundBy) => {
    const wait = ["wait", "--detect-timeout", names.length === 0 ? "0s" : "5s", "--quiet", "--"];
    const seen = JSON.parse((await ebbBeside(sidecars, [...wait, ebbPath, "status", "--json"])).stdout) as Snapshot;
    expect(seen).toMatchObject({ foundBy, sidecars: names.map((name) => ({ name, ready: true })) });
    expect(seen.sockets?.listening.map(({ port }) => port)).toEqual(sidecars.map(({ port }) => port).toSorted());
    if (names.length === 0) expect(kindsOf(seen)).toContain("no-sidecar");
  });
});

describe.skipIf(!canHaveNetwork)("beside an ebb that is PID 1", () => {
  const odd = { port: 8001, node: { id: "front" } };
  /** So that the end waits for no quit. */
  const stays = ["--quit-on", "never"];

  /** Returns what `ebb status` sees while PID 1 is ebb with these words. */
  async function seenBeside(words: readonly string[], flags = ""): Promise<Snapshot> {
    using folder = temporaryFolder();
    const file = join(folder.path, "status");
    const beside = `until [ /proc/1/exe -ef "$1" ]; do sleep 0.01; done; "$1" status --json ${flags} > ${file}; kill 1`;
    await ebbBeside([odd], words, { beside });
    return JSON.parse(readFileSync(file, "utf8")) as Snapshot;
  }

  test("ebb status judges by PID 1's options: what PID 1 waits for, why that does not come, what else answers", async () => {
    const words = ["run", ...stays, "--sidecar", "envoy", "--admin", "http://localhost:9000", "--", "/app"];
    const seen = await seenBeside(words);
    const target = "http://localhost:9000/ready";
    expect(seen.foundBy).toBe("--sidecar of PID 1");
    const probes = [{ target, ready: false, reason: "connection refused" }];
    expect(seen.sidecars).toMatchObject([{ name: "envoy", ready: false, probes }]);
    const told = seen.findings.map(({ kind, message }) => `${kind}: ${message}`).join("\n");
    expect(told).toMatch(/^elsewhere: envoy answers at http:\/\/localhost:8001, .*--admin http:\/\/localhost:8001/m);
  });

  test("PID 1 without a command for a while: ebb status says what PID 1 waits for, and why that does not come", async () => {
    const [through, words] = [namespaces.toSpliced(1, 1), ["run", "--admin", "http://127.0.0.1:1", "--", "/app"]];
    await using started = startEbb(words, { through });
    const [pid = 0] = await until(
      "PID 1 waits",
      () => started.stderr().includes("waiting until") && childrenOf(started.pid),
    );
    const told = await until("it has waited for a while", async () => {
      const seen = await statusOf([], { through: ["nsenter", "--target", `${pid}`, "--pid", "--mount", "--"] });
      return seen.findings.find(({ kind }) => kind === "not-started")?.message;
    });
    expect(told).toMatch(/its command does not run: it waits for http:\/\/127.0.0.1:1\/ready: connection refused/);
  });

  test("ebb status shows what ebb wait waits for, and no sidecar if its options say so", async () => {
    const words = ["wait", "--sidecar", "none", "tcp://127.0.0.1:1", "file:/nowhere", "--", "/app"];
    const seen = await seenBeside(words);
    const targets = seen.sidecars[0]?.probes.map(({ target }) => target);
    expect(targets).toEqual(["tcp://127.0.0.1:1", "file:/nowhere"]);
    const none = await seenBeside(["run", "--sidecar", "none", "--ready", "file:/nowhere", "--", "/app"]);
    expect(none.sidecars).toMatchObject([{ name: "custom", ready: false }]);
    const nothing = await seenBeside(["run", "--sidecar", "none", "--", "/bin/sleep", "9"]);
    expect(nothing.findings.map(({ message }) => message)).toContain(
      "no sidecar: --sidecar of PID 1 says that there is none",
    );
  });

  test("flags of ebb status come before PID 1's", async () => {
    const seen = await seenBeside(
      ["run", ...stays, "--admin", "http://localhost:9000", "--", "/app"],
      "--sidecar=envoy",
    );
    expect(seen).toMatchObject({ foundBy: "--sidecar", sidecars: [{ name: "envoy", ready: true }] });
  });
});

test.skipIf(!canUnshare("--mount"))("without /proc there is still a status, which says so", async () => {
  const through = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"'];
  const seen = await statusOf(none, { through });
  expect(seen).toMatchObject({ sockets: null, processes: null });
  expect(kindsOf(seen)).toEqual(["no-processes", "no-sockets", "no-sidecar"]);
});

test.each([[["x"]], [["--", "x"]], [["--json=maybe"]], [["--sidecar", "nosuch"]]])(
  "%j is a usage error",
  async (words) => {
    expect(await ebb(["status", ...words])).toMatchObject({ code: 64, stdout: "" });
  },
);
