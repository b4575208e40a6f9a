import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { envoyPath } from "../../build/setup/envoy.mjs";
import { drainLineOf, type Ended, lineOf, type Started, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { configurationOf } from "./bootstrap.ts";
import { type Backend, holdIdle, holdRequest, open, send, startBackend } from "./traffic.ts";

setDefaultTimeout(30_000);

const page = readFileSync(join(import.meta.dirname, "../../src/manual/drain.md"), "utf8");
const [, block = ""] = /\n## A gateway's own Envoy\n[\s\S]*?\n\n((?: {4}.*\n)+)/.exec(page) ?? [];
const container = Bun.YAML.parse(block) as { readonly command: readonly string[]; readonly args: readonly string[] };

interface Gateway extends AsyncDisposable {
  readonly ebb: Started;
  readonly port: number;
}

/** Starts the container of the manual's page, with an Envoy that sends everything on to the backend. */
async function startGateway(backend: Backend): Promise<Gateway> {
  const folder = temporaryFolder();
  const config = join(folder.path, "envoy.json");
  const [port, admin] = [await freePort(), await freePort()];
  const plan = { admin: { host: "127.0.0.1", port: admin }, listenerPort: port, listeners: [{ name: "web" }] };
  writeFileSync(config, JSON.stringify(configurationOf({ ...plan, upstreamPort: backend.port }).bootstrap));
  const [ebb, ...flags] = container.command;
  const [envoy, ...args] = container.args.map((arg) => arg.replace("/etc/envoy/envoy.yaml", config));
  expect([ebb, envoy]).toEqual(["/ebb", "envoy"]);
  const started = startEbb(
    [
      ...flags.map((flag) => flag.replace(/^--min-drain=.*/, "--min-drain=500ms")),
      ...[envoyPath() as string, ...args, "--disable-hot-restart", "--concurrency", "1", "--log-level", "off"],
    ],
    { env: { EBB_ADMIN: `http://127.0.0.1:${admin}` } },
  );
  await until("Envoy serves", () => isServed(port));
  return {
    ebb: started,
    port,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function isServed(port: number): Promise<boolean> {
  try {
    const connection = await open(port);
    const { status } = await send(connection, "/first");
    connection.socket.destroy();
    return status === 200;
  } catch {
    return false; // Envoy does not listen yet
  }
}

/** The pid of the Envoy, from ebb's log. */
function envoyOf({ stderr }: Started): number {
  const [, pid] = /"ebb: started the command","pid":(\d+)/.exec(stderr()) ?? [];
  return Number(pid);
}

const loudOf = ({ log }: Ended) => log.filter(({ level }) => level !== "info");

describeAgainstEnvoy("the manual's gateway, whose Envoy is ebb's own child", () => {
  test.concurrent("answers what is in flight at SIGTERM, asks clients to leave, and ends with its Envoy", async () => {
    await using backend = await startBackend();
    await using gateway = await startGateway(backend);
    const { ebb, port } = gateway;
    const pid = envoyOf(ebb);
    const idle = await holdIdle({ port, backend });
    const held = await holdRequest({ port, backend }, "/hold/1");
    expect((await send(idle, "/before")).closes).toBe(false);

    ebb.kill("SIGTERM");
    await says(ebb, "made Envoy's health checks fail");
    expect(await send(idle, "/idle")).toMatchObject({ status: 200, closes: true });
    await says(ebb, '"requests":1');
    const late = await open(port);
    expect(await send(late, "/late")).toMatchObject({ status: 200, closes: true });
    process.kill(pid, 0); // throws if Envoy has ended
    expect(await held.finish()).toBe("200 /hold/1");

    const ended = await ebb.ended;
    expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
    expect(loudOf(ended)).toEqual([]);
    expect(ended.code).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await expect(open(port)).rejects.toThrow("ECONNREFUSED");
  });

  test.concurrent("ends at once, with its Envoy's code, if that crashes", async () => {
    await using backend = await startBackend();
    await using gateway = await startGateway(backend);
    process.kill(envoyOf(gateway.ebb), "SIGKILL");
    const ended = await gateway.ebb.ended;
    expect(ended.code).toBe(137);
    expect(loudOf(ended)).toEqual([]);
    expect(lineOf(ended, "done")).not.toHaveProperty("quitMs"); // it asks nothing to exit
  });
});
