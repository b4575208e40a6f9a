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
import { cloudSqlProxy } from "./subject.ts";

const proxy = cloudSqlProxy();
const program = compiledProgram("cloud-sql-proxy").path;
lifeTests(proxy);
execTest(proxy, "cloud-sql-proxy", program);
factTests(proxy, { 400: "PUT 9091/quitquitquit", 404: "POST 9091/nothing" });

const local = ["--quitquitquit", "--sqladmin-api-endpoint", "http://127.0.0.1:8099"];
stopTests({
  subject: cloudSqlProxy(local),
  delayed: cloudSqlProxy([...local, "--min-sigterm-delay", "1m"]),
  addresses: ["new:5432", "kept:5432"],
  prepare: startGoogle,
});

test("it takes quits by GET and POST only, and nothing else but /quitquitquit", async () => {
  await using pod = await startPod();
  const { container } = await startReady(proxy, pod);
  expect(await pod.request("PUT 9091/quitquitquit")).toMatchObject({ status: 400 });
  expect(await pod.request("POST 9091/quitquitquit/")).toMatchObject({ status: 404 });
  expect(await pod.request("POST 9091/quitquitquit")).toMatchObject({ status: 200 });
  expect(await container.ended).toBe(0);
});

test("with --min-sigterm-delay it has taken the quit, and leaves by itself", async () => {
  await using pod = await startPod();
  const { container } = await startReady(cloudSqlProxy(["--quitquitquit", "--min-sigterm-delay", "2s"]), pod);
  const quit = await run(pod, ["quit", "--quit-timeout", "500ms"], proxy.env);
  expect(quitLineOf(quit)).toMatchObject({ level: "info", status: 200 });
  expect(quitLineOf(quit).outcome).toMatch(/^answered, still draining: it exits by itself after --min-sigterm-delay/);
  expect(quit.code).toBe(0);
  expect(await run(pod, ["quit", "--quit-timeout", "500ms"], proxy.env)).toMatchObject({ code: 0 }); // taken once more
  expect(await container.ended).toBe(0);
});

test("without --quitquitquit its database's port says that it is ready, and that it cannot be quit is explained", async () => {
  await using pod = await startPod();
  const { container } = await cloudSqlProxy([]).start(pod);
  const named = ["--sidecar", "cloud-sql-proxy"];
  expect(await run(pod, ["wait", ...named, "--wait-timeout", "10s"])).toMatchObject({ code: 0 });
  const ended = await run(pod, ["run", ...named, "--quit-timeout", "500ms", "--", "sh", "-c", "exit 3"]);
  expect(quitLineOf(ended)).toMatchObject({ level: "warn" });
  expect(quitLineOf(ended).outcome).toMatch(/^connection refused: .*only with --quitquitquit/);
  expect(ended.code).toBe(3);
  await expect(container.run(program, "shutdown")).rejects.toThrow("connection refused");
  container.kill("SIGTERM");
  expect(await container.ended).toBe(143);
});

test("with --debug alone the admin server has no quit, which is explained", async () => {
  await using pod = await startPod();
  await startReady(cloudSqlProxy(["--debug"]), pod);
  const quit = await run(pod, ["quit"], proxy.env);
  expect(quitLineOf(quit).outcome).toMatch(/^HTTP 404: .*start it with --quitquitquit/);
  expect(quit.code).toBe(69);
});

test("its status", async () => {
  await using pod = await startPod();
  await startReady(proxy, pod);
  expect(await stableStatus(pod, proxy.env)).toMatchObject({
    stderr: "",
    foundBy: "CSQL_PROXY_QUIT_URLS",
    sidecars: [{ name: "cloud-sql-proxy", native: false, ready: true, envoy: null }],
    findings: ["app-unseen"],
    ports: [5432, 9091],
  });
});
