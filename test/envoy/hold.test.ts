import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { firstProcess, type PodNetwork, startPodNetwork } from "../binary/run/pod-of-containers.ts";
import { childPath } from "../harness/compiled.ts";
import { canUnshare, type Started, temporaryFolder, until } from "../harness/ebb.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import { holdRequest, open, send, startBackend } from "./traffic.ts";

setDefaultTimeout(20_000);

const canBePod = canUnshare("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child");

/** The app of a container that drains at SIGTERM, and ends when a USR2 comes: it takes its time. */
async function startApp(pod: PodNetwork, { admin }: Envoy, flags: readonly string[]): Promise<Started> {
  const all = ["--sidecar", "envoy", "--admin", admin, "--restart-policy", "Always", ...flags];
  const app = pod.start(["run", ...all, "--", childPath(), "record", "12"]);
  await until("the app runs", () => app.stdout().includes("ready\n"));
  await until("it is logged", () => app.stderr().includes("started the command"));
  return app;
}

/** Envoy's admin interface is a Unix socket: containers of the pod's network reach it, and its listeners are here. */
async function startBeside(folder: string, upstreamPort: number): Promise<Envoy> {
  const listeners = [
    { name: "in", direction: "INBOUND" },
    { name: "out", direction: "OUTBOUND" },
  ] as const;
  return await startEnvoy({ upstreamPort, admin: { path: join(folder, "admin.sock") }, listeners });
}

async function statusAt(port: number): Promise<number | "refused"> {
  try {
    const connection = await open(port);
    const { status } = await send(connection, "/");
    connection.socket.destroy();
    return status;
  } catch {
    return "refused";
  }
}

describeAgainstEnvoy("ebb hold beside a real Envoy, and ebb run beside it", () => {
  test.skipIf(!canBePod)("closes its inbound listeners once all apps stop, and no outbound one", async () => {
    using folder = temporaryFolder();
    await using backend = await startBackend();
    await using envoy = await startBeside(folder.path, backend.port);
    await using pod = await startPodNetwork();
    const drain = ["--drain", "10s", "--min-drain", "100ms"];
    await using one = await startApp(pod, envoy, drain);
    await using two = await startApp(pod, envoy, drain);
    await using hold = pod.start(["hold", "--sidecar", "envoy", "--admin", envoy.admin]);
    await says(hold, "holding the proxy");
    process.kill(await firstProcess(one), "SIGTERM");
    await until("the first app stops", () => one.stdout().includes("15\n"));
    expect(await statusAt(envoy.portOf("in"))).toBe(200);
    process.kill(await firstProcess(two), "SIGTERM");
    await says(hold, "closed the inbound listeners");
    await until("late clients are refused", async () => (await statusAt(envoy.portOf("in"))) === "refused");
    expect(await statusAt(envoy.portOf("out"))).toBe(200);
    for (const app of [one, two]) process.kill(await firstProcess(app), "SIGUSR2");
    expect((await hold.ended).code).toBe(0);
    expect(envoy.isRunning()).toBe(true);
  });

  test.skipIf(!canBePod)("leaves them open beside an app that does not drain: it may serve on", async () => {
    using folder = temporaryFolder();
    await using backend = await startBackend();
    await using envoy = await startBeside(folder.path, backend.port);
    await using pod = await startPodNetwork();
    await using app = await startApp(pod, envoy, []);
    await using hold = pod.start(["hold", "--sidecar", "envoy", "--admin", envoy.admin]);
    await says(hold, "holding the proxy");
    process.kill(await firstProcess(app), "SIGTERM");
    await until("the app stops", () => app.stdout().includes("15\n"));
    expect(await statusAt(envoy.portOf("in"))).toBe(200);
    process.kill(await firstProcess(app), "SIGUSR2");
    const { log } = await hold.ended;
    expect(log.map(({ msg }) => msg)).toEqual([
      "ebb: holding the proxy until the apps have ended",
      "ebb: the apps have ended: letting the proxy go",
    ]);
  });

  test.skipIf(!canBePod)(
    "the same stop signal again, later than 2 s, cuts no drain: a request is answered",
    async () => {
      using folder = temporaryFolder();
      await using backend = await startBackend();
      await using envoy = await startBeside(folder.path, backend.port);
      await using pod = await startPodNetwork();
      const counted = ["--log-level", "debug"]; // each count, once a second
      await using app = await startApp(pod, envoy, ["--drain", "15s", "--min-drain", "100ms", ...counted]);
      const held = await holdRequest({ port: envoy.portOf("in"), backend }, "/hold/1");
      process.kill(await firstProcess(app), "SIGTERM");
      await until("it drains for 2 s", () => app.stderr().split('"requests":1').length > 3, 10_000);
      process.kill(await firstProcess(app), "SIGTERM");
      await until("it still counts", () => app.stderr().split('"requests":1').length > 4, 10_000);
      expect(app.stdout()).toBe("ready\n");
      expect(await held.finish()).toBe("200 /hold/1");
      await until("the app gets one stop signal", () => app.stdout() === "ready\n15\n");
      process.kill(await firstProcess(app), "SIGUSR2");
      await app.ended;
    },
  );
});
