import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drainLineOf, ebb, lineOf, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { takes } from "../harness/time.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import {
  type Backend,
  holdHttp2,
  holdIdle,
  holdRequest,
  holdTcp,
  holdWebSocket,
  open,
  send,
  startBackend,
  startLoad,
} from "./traffic.ts";

setDefaultTimeout(30_000);

/** Left alone, Envoy tells clients to close more and more over 600 s; Istio's flags make it tell all at once. */
const kinds = [
  { as: "as it is by default", flags: [] },
  { as: "with Istio's flags", flags: ["--drain-time-s", "45", "--drain-strategy", "immediate"] },
] as const;

/** An Envoy between the app and its clients (`in`), and between the app and what it calls (`calls`, `calls-raw`). */
async function startSidecar(appPort: number, called: Backend, flags: readonly string[]): Promise<Envoy> {
  return await startEnvoy({
    upstreamPort: appPort,
    listeners: [
      { name: "in", direction: "INBOUND", port: await freePort() },
      { name: "calls", direction: "OUTBOUND", port: await freePort(), httpPort: called.port },
      { name: "calls-raw", direction: "OUTBOUND", port: await freePort(), tcpPort: called.tcpPort },
    ],
    flags,
  });
}

/** Flags that name it, and say that it is native. The file lives as long as the folder. */
function native({ admin }: Pick<Envoy, "admin">, folder: string): readonly string[] {
  const annotations = join(folder, "annotations");
  writeFileSync(annotations, 'ebb.dev/native="envoy"\n');
  return ["--sidecar", "envoy", "--admin", admin, "--pod-annotations", annotations];
}

/** The app: at SIGTERM it ends at once. */
const server = [process.execPath, `${import.meta.dirname}/../cluster/programs/server.ts`, "127.0.0.1"];

for (const { as, flags } of kinds) describeAgainstEnvoy(`draining a native Envoy, ${as},`, () => testNative(flags));

function testNative(flags: readonly string[]): void {
  const limits = ["--drain", "20s", "--min-drain", "200ms"];

  test.concurrent("loses no request of clients that keep connections, and ends once they have gone", async () => {
    using folder = temporaryFolder();
    await using called = await startBackend();
    const appPort = await freePort();
    await using envoy = await startSidecar(appPort, called, flags);
    const call = ["run", ...native(envoy, folder.path), "--drain", "25s", "--min-drain", "3s"];
    await using started = startEbb([...call, "--", ...server, `${appPort}`]);
    const port = envoy.portOf("in");
    await until("the app answers", async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 200);
    let hasLeft = false; // the endpoints: a client goes elsewhere from then on
    const lost: string[] = [];
    let answered = 0;
    const client = async (pauseMs: number): Promise<void> => {
      while (!hasLeft) {
        const connection = await open(port);
        for (let closes = false; !closes; await takes(pauseMs)) {
          const answer = await send(connection, "/?ms=5");
          if (answer.status === 200) answered += 1;
          else lost.push(`${answer.status} after a pause of ${pauseMs} ms`);
          closes = answer.closes || answer.status !== 200;
        }
        connection.socket.destroy();
      }
    };
    const clients = [0, 0, 25, 25, 1000, 1000, 1000, 1000].map((pauseMs) =>
      client(pauseMs).catch((error) => void lost.push(`${error} after a pause of ${pauseMs} ms`)),
    );
    await until("they are answered", () => answered > 100);
    started.kill("SIGTERM");
    await says(started, "draining the listeners");
    hasLeft = true;
    const ended = await started.ended;
    await Promise.all(clients);
    expect(lost).toEqual([]);
    expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
    expect(drainLineOf(ended).tookMs).toBeLessThan(10_000);
    expect(envoy.isRunning()).toBe(true);
  });

  test.concurrent("lets the app's own calls go on: those under way to their end, others on new connections", async () => {
    using folder = temporaryFolder();
    await using app = await startBackend();
    await using called = await startBackend();
    await using envoy = await startSidecar(app.port, called, flags);
    const way = (listener: string, backend = called) => ({ port: envoy.portOf(listener), backend });
    const idle = [await holdIdle(way("in", app)), await holdIdle(way("calls"))];
    const request = await holdRequest(way("in", app), "/hold/in");
    const calls = [
      await holdRequest(way("calls"), "/hold/1"),
      await holdRequest(way("calls"), "/stream/1"),
      await holdHttp2(way("calls"), "/hold/2"),
      await holdHttp2(way("calls"), "/stream/2"),
      await holdWebSocket(way("calls"), "/socket"),
      await holdTcp(way("calls-raw")),
    ];
    const load = startLoad(envoy.portOf("calls"), 3, 2);
    const all = [...native(envoy, folder.path), ...limits, "--then-quit", "--log-level", "debug"];
    await using started = startEbb(["drain", ...all]);
    await says(started, '"requests":1,"connections":0');
    expect(await request.finish()).toBe("200 /hold/in");
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toContain("quitquitquit");
    const said = ended.log.map(({ msg }) => msg);
    const [listeners, health] = [
      "draining the listeners",
      "made Envoy's health checks fail: it still accepts connections",
    ];
    expect(said.indexOf(`ebb: ${listeners}`)).toBeLessThan(said.indexOf(`ebb: ${health}`));
    expect(lineOf(ended, listeners)).toMatchObject({ request: expect.stringContaining("inboundonly") });
    expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);

    const { length: atEnd } = load.answered;
    await until("the app still calls", () => load.answered.length > atEnd + 50);
    load.deregister();
    await load.done; // each was told to close
    expect(load.failed).toEqual([]);
    expect(await Promise.all(calls.map((each) => each.finish()))).toEqual([
      "200 /hold/1",
      "200 /stream/1",
      "200 /hold/2",
      "200 /stream/2",
      "hello bye",
      "hello bye",
    ]);
    for (const each of idle) {
      expect(each.isClosed()).toBe(false);
      expect(await send(each, "/again")).toMatchObject({ status: 200, closes: true });
    }
  });

  test.concurrent.each([
    ["Always", "its own drain"],
    ["OnFailure", "its own drain"],
    ["Always", "a preStop hook's"],
  ])(
    "where only the app restarts, by %s, after %s: the health checks pass before it starts, and its calls are kept",
    async (policy, by) => {
      using folder = temporaryFolder();
      await using app = await startBackend();
      await using called = await startBackend();
      await using envoy = await startSidecar(app.port, called, flags);
      const call = ["run", ...native(envoy, folder.path), ...limits, "--restart-policy", policy, "--"];
      if (by === "its own drain") {
        await using former = startEbb([...call, "sleep", "100"]);
        await says(former, '"ebb: started the command"');
        former.kill("SIGTERM");
        await former.ended;
      } else expect((await ebb(["drain", ...native(envoy, folder.path), ...limits])).code).toBe(0);
      expect((await fetch(`${envoy.admin}/ready`)).status).toBe(503);
      const kept = await open(envoy.portOf("calls"));

      const asks = `console.log((await fetch("${envoy.admin}/ready")).status); await Bun.sleep(1e6)`;
      await using next = startEbb([...call, process.execPath, "-e", asks]);
      await until("the app has asked", () => next.stdout() !== "");
      expect(next.stdout()).toBe("200\n");
      for (const path of ["/1", "/2"]) expect(await send(kept, path)).toMatchObject({ status: 200, closes: false });
      const load = startLoad(envoy.portOf("calls"), 1, 2);
      await until("it calls", () => load.answered.length > 100);
      expect({ failed: load.failed, closes: load.closes() }).toEqual({ failed: [], closes: 0 });
      expect(next.stderr()).toContain(
        "Envoy was still draining for the previous container: made its health checks pass again",
      );
      expect(next.stderr()).not.toMatch(/"msg":"[^"]*quit/);
      expect(envoy.isRunning()).toBe(true);
      next.kill("SIGTERM"); // its app would outlive an ebb that is killed
      await next.ended;
    },
  );
}
