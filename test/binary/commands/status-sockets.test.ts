import { describe, expect, test } from "bun:test";
import { copyFileSync, symlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { ProcessesStatus, Snapshot } from "../../../src/pod/status/core/snapshot.ts";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebb, ebbPath, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { canHaveNetwork } from "../sidecars/own-network.ts";
import { none, statusOf } from "./status-of.ts";

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
      await until("both are accepted", () => accepted >= 2);
      // an ebb of another test may look for an Envoy at each port of this machine, and be connected for a moment
      const found = await until("both are shown", async () => {
        const { sockets } = await statusOf(none);
        const own = sockets?.listening.find((each) =>
          port === undefined ? each.address === path : each.port === port,
        );
        return own?.connections.established === 2 && own;
      });
      expect(found.pid).toBe(process.pid);
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
    expect(stdout).toMatch(/^! the app is in another container .* kubectl get pod .* run ebb quit here/m);
  });

  test("a PID 1 that does not reap is a finding", async () => {
    const through = [...container, "sh", "-c", `${childPath()} exit 0 & exec "$0" "$@"`]; // ebb status is PID 1, and does not
    await using started = startEbb(["status", "--watch", ...none], { through });
    const found = /^! 1 zombie \(child\): process 1 does not reap what has ended$/m;
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
    await until("the app's end is found", () => /^! the app has ended, .*ebb quit/m.test(started.stdout()));
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
