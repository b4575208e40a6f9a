import { describe, expect, test } from "bun:test";
import { copyFileSync, symlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { ProcessesStatus, Snapshot } from "../../../src/core/status/snapshot.ts";
import { childPath } from "../../compiled.ts";
import { canUnshare, ebb, ebbPath, type StartOptions, startEbb, temporaryFolder, until } from "../../harness.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { listenersOf, serving } from "../../stand-in/envoy-answers.ts";
import { canHaveNetwork, ebbBeside } from "../sidecars/own-network.ts";

const none = ["--sidecar", "none"];

async function statusOf(flags: readonly string[], options: StartOptions = {}): Promise<Snapshot> {
  const { code, stdout, stderr } = await ebb(["status", "--json", ...flags], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Snapshot;
}

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
  expect(stdout).toMatch(/^! envoy is draining, .*: 2 requests and 0 connections still in flight$/m);
  expect(stdout).toContain('HTTP 503 "DRAINING"');
});

describe("an admin interface that does not answer as it should is a finding, and delays nothing else:", () => {
  test("it hangs on one path", async () => {
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
    admin.answers["/stats"] = { body: "x".repeat(17 * 1024 * 1024) };
    const { problems } = (await statusOf(["--admin", admin.url])).sidecars[0]?.envoy ?? {};
    expect(problems).toEqual([
      '/server_info: HTTP 403 "Forbidden"',
      "/stats: an answer longer than 16 MiB",
      "/listeners: not what an Envoy answers",
      "/config_dump: the connection was closed before the answer was complete",
    ]);
  });

  test("nobody listens", async () => {
    const seen = await statusOf(["--sidecar", "envoy", "--admin", "http://127.0.0.1:1"]);
    expect(seen).toMatchObject({ foundBy: "--sidecar", sidecars: [{ envoy: { problems: ["connection refused"] } }] });
  });
});

describe.skipIf(!canHaveNetwork)("in a network of its own", () => {
  test.each([
    ["nothing", [], [], null],
    ["Istio", [{ port: 15021 }, { port: 15000 }], ["istio"], "port 15021"],
    ["Linkerd", [{ port: 4191 }], ["linkerd"], "port 4191"],
  ])("it finds %s by what listens", async (_, sidecars, names, foundBy) => {
    const wait = ["wait", "--detect", names.length === 0 ? "0s" : "5s", "--quiet", "--"];
    const seen = JSON.parse((await ebbBeside(sidecars, [...wait, ebbPath, "status", "--json"])).stdout) as Snapshot;
    expect(seen).toMatchObject({ foundBy, sidecars: names.map((name) => ({ name, ready: true })) });
    expect(seen.sockets?.listening.map(({ port }) => port)).toEqual(sidecars.map(({ port }) => port).toSorted());
    if (names.length === 0) expect(kindsOf(seen)).toContain("no-sidecar");
  });
});

async function listen(server: Server, where: object): Promise<void> {
  await new Promise<void>((listening) => server.listen(where, listening));
}

describe("what listens", () => {
  test("has its process and its connections: TCP on IPv4 and IPv6, unix", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "a b.sock");
    for (const where of [{ host: "127.0.0.1", port: 0 }, { host: "::", port: 0 }, { path }]) {
      let accepted = 0;
      const server = createServer(() => {
        accepted += 1;
      });
      await listen(server, where);
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const clients = [1, 2].map(() => (port === undefined ? connect(path) : connect(port, "localhost")));
      await until("both are accepted", () => accepted === 2);
      const { sockets } = await statusOf(none);
      const found = sockets?.listening.find((each) =>
        port === undefined ? each.address === path : each.port === port,
      );
      expect(found).toMatchObject({ pid: process.pid, connections: { established: 2 } });
      for (const client of clients) client.destroy();
      server.close();
    }
  });

  test("but does not accept is a finding", async () => {
    const program =
      'const s = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data() {} } }); console.log(s.port)';
    const server = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
    const { value } = await server.stdout.getReader().read();
    const port = Number(new TextDecoder().decode(value));
    server.kill("SIGSTOP");
    const clients = [1, 2, 3].map(() => connect(port, "127.0.0.1"));
    try {
      await Promise.all(clients.map((client) => new Promise((open) => client.once("connect", open))));
      const { findings, sockets } = await statusOf(none);
      expect(sockets?.listening.find((socket) => socket.port === port)).toMatchObject({ pid: server.pid, backlog: 3 });
      expect(findings).toContainEqual({
        kind: "not-accepting",
        message: expect.stringContaining(`127.0.0.1:${port} (`),
      });
    } finally {
      for (const client of clients) client.destroy();
      server.kill("SIGKILL");
    }
  });

  test.skipIf(!canHaveNetwork)("and belongs to another user has no process, and it says why", async () => {
    await using admin = await startEnvoy();
    const through = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    const seen = await statusOf(none, { through });
    expect(seen.sockets?.listening.find(({ port }) => port === admin.port)).toMatchObject({ pid: null, process: null });
    expect(seen.processes?.unreadable).toBeGreaterThan(0);
    const { stdout } = await ebb(["status", ...none], { through });
    expect(stdout).toMatch(/^\?: .*other users cannot be read$/m);
  });
});

describe.skipIf(!canUnshare("--pid", "--fork", "--mount-proc", "--kill-child"))("in a container", () => {
  const container = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const run = ["run", ...none, "--quiet", "--"];
  const own = `${ebbPath} status --json ${none.join(" ")}`;

  async function processesAfter(args: readonly string[], through: readonly string[]): Promise<ProcessesStatus> {
    const { stdout } = await ebb(args, { through });
    return (JSON.parse(stdout) as Snapshot).processes as ProcessesStatus;
  }

  test("where ebb is PID 1, it and its command are shown", async () => {
    const seen = await processesAfter([...run, "sh", "-c", `${own}; exit 0`], container);
    expect(seen).toMatchObject({
      ...{ shared: false, initIsEbb: true, appEnded: null, zombies: [] },
      init: { pid: 1, name: "ebb", command: [ebbPath, ...run, "sh", "-c", `${own}; exit 0`] },
      child: { name: "sh", command: ["sh", "-c", `${own}; exit 0`], state: "sleeping" },
    });
  });

  test("where ebb is PID 1 in another tool's name, it is known all the same", async () => {
    using folder = temporaryFolder();
    const scuttle = join(folder.path, "scuttle");
    symlinkSync(ebbPath, scuttle);
    const script = `exec ${scuttle} sh -c "${own}; exit 0"`;
    const started = Bun.spawn([...container, "sh", "-c", script], { stdin: "ignore", stderr: "ignore" });
    const { processes } = (await new Response(started.stdout).json()) as Snapshot;
    expect(processes).toMatchObject({ initIsEbb: true, init: { name: "scuttle" }, child: { name: "sh" } });
  });

  test("where ebb status is PID 1 itself, it has no command", async () => {
    expect(await processesAfter(["status", "--json", ...none], container)).toMatchObject({ count: 1, child: null });
  });

  test("which is not the app's, the app cannot be seen, and it says what then tells that the pod is stuck", async () => {
    await using admin = await startEnvoy();
    const url = `http://127.0.0.1:${admin.port}`;
    const { stdout } = await ebb(["status", "--sidecar", "envoy", "--admin", url], { through: container });
    expect(stdout).toMatch(/^! the app is in another container, .* kubectl get pod .* run ebb quit here/m);
  });

  test("a PID 1 that does not reap is a finding", async () => {
    const through = [...container, "sh", "-c", `${childPath()} exit 0 & exec "$0" "$@"`]; // ebb status is PID 1, and does not
    await using started = startEbb(["status", "--watch", ...none], { through });
    const found = /Z 1 zombie \(child\): process 1 does not reap what has ended$/m;
    await until("the zombie is found", () => found.test(started.stdout()));
  });

  test("with a shared process namespace where only the sidecar is left, the app has ended", async () => {
    using folder = temporaryFolder();
    await using admin = await startEnvoy();
    const programs = ["pause", "envoy"].map((name) => join(folder.path, name));
    for (const path of programs) copyFileSync(childPath(), path);
    const [pause, envoy] = programs;
    const script = `${envoy} ignore >/dev/null & "$0" "$@" & exec ${pause} ignore >/dev/null`;
    const words = ["status", "--watch", "--admin", admin.url];
    await using started = startEbb(words, { through: [...container, "sh", "-c", script] });
    await until("the app's end is found", () => /Z the app has ended, .*ebb quit/m.test(started.stdout()));
  });

  test("a process that calls itself what it likes changes nothing", async () => {
    using folder = temporaryFolder();
    const name = join(folder.path, ") Z 1\n(x");
    const script = `cp ${childPath()} "${name}" && ("${name}" ignore &) | { read -r ready; ${own}; }`;
    const seen = await processesAfter([...run, "bash", "-c", script], container);
    expect(seen).toMatchObject({ zombies: [], child: { name: "bash" } });
    expect(seen.count).toBeGreaterThanOrEqual(4);
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
