import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { mountCertificate, nonEmpty, said, startWebhook } from "../binary/cluster/webhook/webhook.ts";
import { keptBecause, podOf } from "../binary/run/app-containers.ts";
import { startAtTerminal } from "../binary/run/at-terminal.ts";
import { childPath, compiled } from "../harness/compiled.ts";
import {
  canUnshare,
  type Ended,
  ebb,
  ebbPath,
  type StartOptions,
  startEbb,
  temporaryFolder,
  until,
} from "../harness/ebb.ts";
import { startEnvoy } from "../stand-in/envoy.ts";
import { fakeSidecar } from "../stand-in/sidecar.ts";
import { profile, writeFilter } from "./filter.ts";

setDefaultTimeout(60_000);

const confine = compiled(resolve(import.meta.dirname, "../fixtures/confine.c"));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const strict = [confine, writeFilter(folder.path, profile, true)];
/** The child is ebb too, which needs no more than ebb. */
const sleeper = [ebbPath, "sleep"] as const;
const alone = ["run", "--sidecar", "none", "--quiet", "--"] as const;

const confined = (args: readonly string[], options: StartOptions = {}): Promise<Ended> =>
  ebb(args, { ...options, through: strict });

/** Where a call was not in the profile, the kernel has ended ebb by SIGSYS: 159. */
describe("with the system calls of build/seccomp.json and no other,", () => {
  test("run waits for the sidecar, starts the command, quits the sidecar and keeps the exit code", async () => {
    await using sidecar = await fakeSidecar();
    const admin = ["--sidecar", "envoy", "--admin", sidecar.url];
    const { code, log } = await confined(["run", ...admin, "--", ...sleeper, "nonsense"]);
    expect(code).toBe(64);
    expect(log.map(({ msg }) => msg)).toEqual(
      ["ready", "started the command", "asked the sidecar to exit", "done"].map((msg) => `ebb: ${msg}`),
    );
    expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
  });

  test("run goes on where another profile refuses the socket by which ebb hold sees it, and says so", async () => {
    using other = temporaryFolder();
    const syscalls = profile.syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => name !== "bind") }));
    const through = [confine, writeFilter(other.path, { ...profile, syscalls }, false)];
    const env = { EBB_HOST_NETWORK: "false" };
    const call = ["run", "--sidecar", "envoy", "--no-wait", "--quit-on", "never", "--", ...sleeper, "10ms"];
    const { code, log } = await ebb(call, { env, through });
    expect(code).toBe(0);
    expect(log).toContainEqual(
      expect.objectContaining({ msg: "ebb: cannot tell ebb hold of this run: no proxy is held for it" }),
    );
  });

  test("run drains before the command's end, and quits then", async () => {
    await using envoy = await startEnvoy();
    const drain = ["--sidecar", "envoy", "--admin", envoy.url, "--drain", "20s", "--min-drain", "10ms"];
    await using started = startEbb(["run", ...drain, "--", ...sleeper, "1m"], { through: strict });
    await until("the command has started", () => started.stderr().includes("ebb: started the command"));
    started.kill("SIGTERM");
    const { code, stderr } = await started.ended;
    expect({ code, stderr }).toEqual({ code: 143, stderr: expect.stringContaining('"outcome":"drained"') });
    expect(envoy.requests).toContain("POST /quitquitquit");
  });

  test.each([1, 2, 15])("run hands signal %d on", async (signal) => {
    await using started = startEbb(["run", "--sidecar", "none", "--", ...sleeper, "1m"], { through: strict });
    await until("the command has started", () => started.stderr().includes("ebb: started the command"));
    started.kill(signal);
    expect((await started.ended).code).toBe(128 + signal);
  });

  test("run looks for a sidecar, and ends what has a name", async () => {
    const detect = ["run", "--detect-timeout", "20ms", "--signal-process", "ebb-no-such", "--", ...sleeper, "1ms"];
    expect((await confined(detect)).code).toBe(0);
  });

  test.each([
    [127, ["/nowhere"]],
    [126, ["/"]],
  ])("run says %d of what cannot be started", async (code, words) => {
    expect((await confined([...alone, ...words])).code).toBe(code);
  });

  test("run hands the terminal to the command", async () => {
    await using at = startAtTerminal(...strict, ebbPath, "run", "--sidecar", "none", "--", ...sleeper, "1m");
    await at.shows("started the command");
    at.type("\x03");
    expect(await at.exited).toBe(130);
  });

  test.skipIf(!canUnshare("--pid", "--fork"))("run reaps orphans as PID 1", async () => {
    const through = ["unshare", "--pid", "--fork", ...strict];
    const { code } = await ebb([...alone, childPath(), "orphans", "30", "5"], { through });
    expect(code).toBe(5);
  });

  test.skipIf(!canUnshare("--mount", "--pid", "--fork"))(
    "run knows of other app containers by their locks",
    async () => {
      await using sidecar = await fakeSidecar();
      using pod = podOf(sidecar, ["a", "b"]);
      await using a = await pod.start("a", { user: 0, through: strict });
      await using b = await pod.start("b", { user: 0, through: strict });
      expect(keptBecause(await b.end(0))).toBe("--last-of: a runs");
      expect(keptBecause(await a.end(0))).toBeUndefined();
      expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
    },
  );

  test("wait becomes the command when all kinds of targets are ready", async () => {
    await using sidecar = await fakeSidecar();
    const socket = join(folder.path, "socket");
    const server = createServer((client) => client.resume()).listen(socket);
    const targets = [`${sidecar.url}/ready`, `tcp://127.0.0.1:${sidecar.port}`, `unix:${socket}`, `file:${socket}`];
    const { code, stdout } = await confined(["wait", "--sidecar", "none", ...targets, "--", ebbPath, "--version"]);
    server.close();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^ebb \d/) });
  });

  test("drain, quit and request reach a sidecar, by TCP and by its socket", async () => {
    await using envoy = await startEnvoy();
    const admin = ["--sidecar", "envoy", "--admin", envoy.url];
    expect((await confined(["request", "--admin", envoy.url, "/stats"])).code).toBe(0);
    expect((await confined(["drain", ...admin, "--min-drain", "10ms"])).code).toBe(0);
    expect((await confined(["quit", ...admin])).code).toBe(0);
    expect((await confined(["request", "--admin", "unix:/nowhere.sock", "/"])).code).toBe(69);
  });

  test("https is spoken, trusted and not", async () => {
    const pem = resolve(import.meta.dirname, "../fixtures/localhost.pem");
    const text = readFileSync(pem, "utf8");
    const server = Bun.serve({ port: 0, tls: { key: text, cert: text }, fetch: () => new Response("secret") });
    const url = `https://localhost:${server.port}/`;
    const trusted = await confined(["request", url], { env: { NODE_EXTRA_CA_CERTS: pem } });
    expect({ code: trusted.code, stdout: trusted.stdout }).toEqual({ code: 0, stdout: "secret" });
    expect((await confined(["request", url])).code).toBe(69);
    expect((await confined(["quit", "--quit", url, "--quit-timeout", "1s"])).code).toBe(69);
    const run = ["run", "--sidecar", "none", "--no-wait", "--quit", url, "--", ...sleeper, "1ms"];
    expect((await confined(run, { env: { NODE_EXTRA_CA_CERTS: pem } })).code).toBe(0);
    await server.stop(true);
  });

  test("a name is looked up", async () => {
    const { code } = await confined(["request", "--timeout", "2s", "http://nosuch.invalid/"]);
    expect(code).toBe(69);
  });

  test("install copies ebb, and says why it cannot", async () => {
    const copy = join(folder.path, "copy");
    expect((await confined(["install", copy])).code).toBe(0);
    expect(Buffer.compare(readFileSync(copy), readFileSync(ebbPath))).toBe(0);
    expect((await confined(["install", copy])).code).toBe(0);
    expect((await confined(["install", "/nowhere/ebb"])).code).toBe(71);
  });

  test("the webhook answers, refuses, takes another certificate, tells its metrics, and leaves", async () => {
    await using webhook = await startWebhook(["--min-drain", "0"], mountCertificate(), { through: strict });
    expect((await webhook.ask()).status).toBe(200);
    expect((await webhook.ask({}, { method: "PUT" })).status).toBe(405);
    expect(await (await fetch(`${webhook.health}/metrics`)).text()).toContain("process_cpu_seconds_total");
    webhook.mounted.renew();
    await until("another one is served", () => nonEmpty(said(webhook, "serving with a new certificate")), 30_000);
    expect((await webhook.ask({}, { keepalive: false })).status).toBe(200);
    webhook.started.kill("SIGTERM");
    expect((await webhook.started.ended).code).toBe(0);
  });

  test.each(["status", "status --json", "config", "--help", "--version", "completion bash", "sleep 1ms"])(
    "ebb %s",
    async (words) => {
      expect((await confined(words.split(" "))).code).toBe(0);
    },
  );

  test("status --watch ends by a signal", async () => {
    await using started = startEbb(["status", "--watch", "--json"], { through: strict });
    await until("it has looked", () => started.stdout().includes("\n"));
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
  });

  test("the reason of a failure reaches the termination log, with descriptors closed and the folder gone", async () => {
    const log = join(folder.path, "termination-log");
    writeFileSync(log, "");
    const shell = ["bash", "-c", 'd=$(mktemp -d); cd $d; rmdir $d; exec 0<&- "$@"', "bash", ...strict];
    const failed = await ebb(["run", "--sidecar", "none", "--termination-log", log, "--", "/nowhere"], {
      through: shell,
    });
    expect(failed.code).toBe(127);
    expect(readFileSync(log, "utf8")).toContain("/nowhere");
  });
});
