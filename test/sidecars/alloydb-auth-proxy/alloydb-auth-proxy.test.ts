import { expect, test } from "bun:test";
import { quitLineOf } from "../../harness/ebb.ts";
import { compiledProgram } from "../compile.ts";
import { execTest } from "../exec.ts";
import { factTests } from "../facts.ts";
import { lifeTests, run, startReady } from "../life.ts";
import { startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { stopTests } from "../stop.ts";
import { startGoogle } from "../traffic.ts";
import { alloydbAuthProxy } from "./subject.ts";

const proxy = alloydbAuthProxy();
const program = compiledProgram("alloydb-auth-proxy").path;
lifeTests(proxy);
execTest(proxy, "alloydb-auth-proxy", program);
factTests(proxy, { 400: "PUT 9091/quitquitquit", 404: "POST 9091/nothing" });

const local = ["--quitquitquit", "--alloydbadmin-api-endpoint", "http://127.0.0.1:8099"];
stopTests({
  subject: alloydbAuthProxy(local),
  delayed: alloydbAuthProxy([...local, "--min-sigterm-delay", "1m"]),
  addresses: ["new:5432", "kept:5432"],
  prepare: startGoogle,
});

test("with --min-sigterm-delay it has taken the quit, and leaves by itself", async () => {
  await using pod = await startPod();
  const { container } = await startReady(alloydbAuthProxy(["--quitquitquit", "--min-sigterm-delay", "2s"]), pod);
  const quit = await run(pod, ["quit", "--quit-timeout", "500ms"], proxy.env);
  expect(quitLineOf(quit).outcome).toMatch(/^answered, still draining: it exits by itself after --min-sigterm-/);
  expect(quit.code).toBe(0);
  expect(await container.ended).toBe(0);
});

test("without --quitquitquit its database's port says that it is ready, and that it cannot be quit is explained", async () => {
  await using pod = await startPod();
  const { container } = await alloydbAuthProxy([]).start(pod);
  const ended = await run(pod, ["run", "--quit-timeout", "500ms", "--", "sh", "-c", "exit 3"], proxy.env);
  expect(quitLineOf(ended).outcome).toMatch(/^connection refused: .*only with --quitquitquit/);
  expect(ended.code).toBe(3);
  await expect(container.run(program, "shutdown")).rejects.toThrow("connection refused");
  container.kill("SIGTERM");
  expect(await container.ended).toBe(143);
});

test("its status", async () => {
  await using pod = await startPod();
  await startReady(proxy, pod);
  expect(await stableStatus(pod, proxy.env)).toMatchObject({
    stderr: "",
    sidecars: [{ name: "alloydb-auth-proxy", native: false, ready: true, envoy: null }],
    ports: [5432, 9091],
  });
});
