import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, ebbPath, lineOf, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { startAtTerminal } from "../run/at-terminal.ts";

const nowhere = "tcp:127.0.0.1:1";

test("ebb wait waits for all of its targets", async () => {
  await using server = await fakeSidecar();
  const ended = await ebb(["wait", "--wait-timeout", "2s", `${server.url}/ready`, nowhere]);
  expect(ended.code).toBe(69);
  expect(ended.log.at(-1)).toMatchObject({
    level: "error",
    msg: "ebb: cannot go on",
    reason: "not ready within 2s: tcp://127.0.0.1:1: connection refused",
    exitCode: 69,
  });
});

test("with --any one of them is enough, whichever it is", async () => {
  await using server = await fakeSidecar();
  for (const targets of [
    [`${server.url}/ready`, nowhere],
    [nowhere, `${server.url}/ready`],
    ["file:/nowhere", nowhere, `tcp://127.0.0.1:${server.port}`],
  ]) {
    expect((await ebb(["wait", "--any", ...targets])).code).toBe(0);
  }
});

test("with --any it goes on as soon as the first is there", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "there");
  await using started = startEbb(["wait", "--any", nowhere, `file:${file}`, "--", "echo", "ready"]);
  await until(
    "both are asked",
    () => started.stderr().includes("no such file") && started.stderr().includes("refused"),
  );
  expect(started.stdout()).toBe("");
  writeFileSync(file, "");
  expect(await started.ended).toMatchObject({ code: 0, stdout: "ready\n" });
});

test("with --any the sidecars must all be ready all the same", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  await using server = await fakeSidecar();
  const args = ["wait", "--any", "--admin", sidecar.url, nowhere, `${server.url}/ready`];
  await using started = startEbb(args);
  await until("the target is ready", () => started.stderr().includes('"msg":"ebb: ready"'));
  await until("the sidecar is asked", () => sidecar.probes() > 3);
  expect(started.stderr()).not.toContain(`"ebb: ready","target":"${sidecar.url}`);
  sidecar.isReady = true;
  expect((await started.ended).code).toBe(0);
});

test("with --any none in time is 69, and says why of each", async () => {
  const ended = await ebb(["wait", "--any", "--wait-timeout", "1s", nowhere, "file:/nowhere"]);
  expect(ended.code).toBe(69);
  const reason = String(lineOf(ended, "cannot go on").reason);
  const reasons = /^not ready within 1s: (.*)$/.exec(reason)?.[1]?.split("; ").sort();
  expect(reasons).toEqual(["file:/nowhere: no such file", "tcp://127.0.0.1:1: connection refused"]);
});

describe("where the log is JSON, each line is:", () => {
  const cannotLog = ["--termination-log", "/no/such/folder/log"];
  test.each<[string, number, readonly string[]]>([
    ["not ready in time", 69, ["--wait-timeout", "50ms", nowhere]],
    ["continuing anyway", 0, ["--wait-timeout", "50ms", "--on-wait-timeout", "start", nowhere]],
    ["no such command", 127, ["--", "/no/such/command"]],
    ["a command that is none", 126, ["--", "/"]],
    ["and the termination log cannot be written", 127, [...cannotLog, "--", "/no/such/command"]],
  ])("%s", async (_, code, args) => {
    const ended = await ebb(["wait", "--sidecar", "none", "--log-format", "json", ...args]);
    expect(ended.code).toBe(code);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(ended.log.length);
    const asText = await ebb(["wait", "--sidecar", "none", "--log-format", "text", ...args]);
    expect(asText).toMatchObject({ code, log: [] });
  });

  test("a signal", async () => {
    await using waiting = startEbb(["wait", "--sidecar", "none", "--log-format", "json", nowhere]);
    await until("it waits", () => waiting.stderr().includes("waiting until ready"));
    waiting.kill("SIGHUP");
    waiting.kill("SIGTERM");
    const ended = await waiting.ended;
    expect(ended.code).toBe(143);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(ended.log.length);
  });
});

test("a failure is a sentence where the log is text", async () => {
  const { stderr } = await ebb([
    "wait",
    "--log-format",
    "text",
    "--wait-timeout",
    "50ms",
    "--sidecar",
    "none",
    nowhere,
  ]);
  expect(stderr).toEndWith("\nebb: not ready within 50ms: tcp://127.0.0.1:1: connection refused\n");
});

test("--any without targets is a usage error", async () => {
  expect(await ebb(["wait", "--any"])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("expected TARGETs, as in ebb wait --any tcp://"),
  });
});

test("at a terminal it shows what it still waits for, and for how long, and takes that away", async () => {
  await using server = await fakeSidecar({ isReady: false });
  await using at = startAtTerminal(
    ebbPath,
    "wait",
    "--sidecar",
    "none",
    "--quiet",
    "tcp:127.0.0.1:1",
    `${server.url}/ready`,
  );
  await at.shows(/waiting for 1s: .*refused/);
  at.type("\x03");
  expect(await at.exited).toBe(130);
  expect(at.screen()).toEndWith("\x1b[K");
});

test.concurrent.each([
  ["wait", ["wait", "--sidecar", "none", nowhere]],
  ["run", ["run", "--sidecar", "none", "--ready", nowhere, "--", "true"]],
])("ebb %s says after 10 s again what it waits for", async (_, args) => {
  await using started = startEbb(args);
  const isAgain = () => started.stderr().split("waiting until ready").length > 2;
  await until("it says so again", isAgain);
  started.kill("SIGTERM");
  const ended = await started.ended;
  const [first, again] = ended.log.filter(({ msg }) => msg === "ebb: waiting until ready");
  expect(first?.waitedMs).toBeLessThan(1000);
  expect(again).toMatchObject({ target: "tcp://127.0.0.1:1", reason: "connection refused" });
  expect(again?.waitedMs).toBeGreaterThanOrEqual(10_000);
  expect(ended.code).toBe(143);
  const told = { level: "info", signal: "SIGTERM" };
  if (args[0] === "run") expect(lineOf(ended, "received a stop signal: ending the wait")).toMatchObject(told);
});

test.concurrent.each<[readonly string[], readonly string[]]>([
  [[], ["ebb: nothing to wait for: --sidecar none, and no target"]],
  [["file:/proc/self/exe"], ["ebb: ready"]],
])("--sidecar none with the targets %j says what there is to wait for", async (targets, said) => {
  const { code, log } = await ebb(["wait", "--sidecar", "none", ...targets]);
  expect([code, log.map(({ msg }) => msg)]).toEqual([0, [...said]]);
});
