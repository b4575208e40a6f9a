import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const nobody = "http://127.0.0.1:1";

test("a bad call is exit code 64 and names every bad flag and variable, its value, and what is expected", async () => {
  const flags = [
    "--grace",
    "soon",
    "--wait-timeout=-1",
    "--rewrite-signal",
    "FOO:TERM",
    "--quit",
    "nowhere",
    "--nosuch",
  ];
  const env = {
    EBB_QUIT_ON: "sometimes",
    EBB_SIDECAR: "istio,squid",
    QUIT_REQUEST_TIMEOUT: "0s",
    START_WITHOUT_ENVOY: "si",
    EBB_EXPECT_EXIT: "256",
    EBB_HEADER: "no colon",
    ENVOY_ADMIN_API: "localhost:15000",
  };
  const { code, stdout, stderr } = await ebb(["run", ...flags, "--", "true"], { env });
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  const bad = [...Object.entries(env), ["--grace", "soon"], ["--wait-timeout", "-1"], ["--rewrite-signal", "FOO:TERM"]];
  for (const [name = "", value = ""] of [...bad, ["--quit", "nowhere"]]) {
    const shown = name === "EBB_HEADER" ? "***" : value; // it may be a secret
    expect(stderr).toMatch(
      new RegExp(`^ebb: ${name}: expected .+, got "${RegExp.escape(shown)}"(; did you mean .+)?$`, "m"),
    );
  }
  expect(stderr).toMatch(/^ebb: .*--nosuch/m);
  expect(stderr.trimEnd().split("\n")).toHaveLength(bad.length + 2);
});

test.each([
  ["no command", ["run"]],
  ["no command after --", ["run", "--sidecar", "none", "--"]],
  ["a flag without its value", ["run", "--grace"]],
  ["a bad target", ["wait", "nowhere"]],
  ["an operand where none is taken", ["quit", "now"]],
  ["a switch with a value that is neither true nor false", ["run", "--signal-group=maybe", "--", "true"]],
  ["an empty value", ["run", "--grace=", "--", "true"]],
  ["--quiet beside --log-level", ["run", "--quiet", "--log-level", "debug", "--", "true"]],
  ["--quiet beside --log-level, for ebb drain", ["drain", "--log-level=info", "--quiet=true"]],
])("%s is exit code 64, in a sentence that starts with ebb:", async (_, args) => {
  const { code, stderr } = await ebb(args);
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(/^ebb: .+\n$/) });
});

test("an unknown EBB_ variable is warned about, and the command runs", async () => {
  const { code, log } = await ebb(["run", "--sidecar", "none", "--", "true"], { env: { EBB_GRACEE: "1s" } });
  expect(code).toBe(0);
  expect(log[0]).toMatchObject({ level: "warn", variable: "EBB_GRACEE", didYouMean: "EBB_GRACE" }); // before all else
});

test("of more than 20 unknown EBB_ variables, the others are only counted", async () => {
  const env = Object.fromEntries(Array.from({ length: 23 }, (_, at) => [`EBB_UNKNOWN_${at}`, "1"]));
  const { log } = await ebb(["run", "--sidecar", "none", "--", "true"], { env });
  const about = log.filter(({ msg }) => msg === "ebb: ignored an unknown variable");
  expect(about.length).toBe(21);
  expect(about.pop()).toMatchObject({ level: "warn", others: 3 });
  expect(new Set(about.map(({ variable }) => variable)).size).toBe(20);
});

test.each(["run --sidecar none -- true", "image --registries none app", "config"])(
  "ebb %s does not warn about a variable that another command reads",
  async (call) => {
    const { stderr } = await ebb(call.split(" "), {
      env: { EBB_IMAGE: "registry.example.com/ebb:1", EBB_DRY_RUN: "true" },
    });
    expect(stderr).not.toContain("EBB_");
  },
);

test.each([
  ["run", ["--", "/no/such/command"]],
  ["wait", []],
])("ebb %s: not ready in time is exit code 69, and the log says what was not ready and why", async (name, command) => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--wait-timeout", "1s", "--log-format", "json"];
  const { code, stdout, stderr } = await ebb([name, ...flags, ...command]);
  expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
  expect(stderr).toContain(`not ready within 1s: ${sidecar.url}/ready: HTTP 503`);
});

test("not ready in time: the command never starts, and the sidecar is quit all the same", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--wait-timeout", "50ms"];
  const { code, log } = await ebb(["run", ...flags, "--", childPath(), "exit", "3"]);
  expect({ code, requests: sidecar.requests }).toEqual({ code: 69, requests: ["POST /quitquitquit"] });
  expect(log.map(({ msg }) => msg)).not.toContain("ebb: started the command");
});

test("--on-wait-timeout start: the command starts late, the log says why, and its code is ebb's", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--wait-timeout", "1s", "--on-wait-timeout", "start"];
  const { code, log } = await ebb(["run", ...flags, "--", childPath(), "exit", "3"]);
  expect(code).toBe(3);
  expect(log).toContainEqual(
    expect.objectContaining({ level: "warn", reason: expect.stringContaining("HTTP 503"), msg: expect.anything() }),
  );
  expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
});

test("ebb wait --on-wait-timeout start goes on with the command", async () => {
  const flags = ["--sidecar", "none", "--wait-timeout", "20ms", "--on-wait-timeout", "start"];
  const { code } = await ebb(["wait", ...flags, nobody, "--", childPath(), "exit", "3"]);
  expect(code).toBe(3);
});

const bad = "bad: ";
const waiting = ["run", "--ready", nobody, "--wait-timeout", "20ms"];
test.each<[string, number, string[], string]>([
  ["a command that does not exist", 127, ["run", "--sidecar", "none", "--", "/no/such/command"], "/no/such/command"],
  ["a command that is not executable", 126, ["run", "--sidecar", "none", "--", "/etc"], "/etc: "],
  ["run: not ready", 69, [...waiting, "--sidecar", "none", "--", "true"], nobody],
  ["run: still looking for sidecars", 69, [...waiting, "--", "true"], "not ready within 20ms: "],
  ["wait: not ready", 69, ["wait", "--sidecar", "none", "--wait-timeout", "20ms", nobody], nobody],
  ["wait: no such command", 127, ["wait", "--sidecar", "none", "--", "/no/such/command"], "/no/such/command"],
  ["bad values", 64, ["run", "--grace", bad, "--rewrite-signal", bad, "--", "true"], "--rewrite-signal"],
  ["a bad target", 64, ["wait", bad], "expected a target"],
  ["a target without its scheme", 64, ["wait", "db:5432"], "did you mean tcp://db:5432?"],
  ["no command", 64, ["run", "--sidecar", "none"], "expected a command"],
])("the termination log says in one line why ebb failed: %s", async (_, code, [name = "", ...rest], reason) => {
  using folder = temporaryFolder();
  const path = join(folder.path, "termination-log");
  const ended = await ebb([name, "--termination-log", path, ...rest]);
  expect(ended.code).toBe(code);
  const written = readFileSync(path, "utf8");
  expect(written).toMatch(/^ebb: [^\n]+\n$/);
  expect(written).toContain(reason);
});

test.each([
  ["fails", ["exit", "64"], 64],
  ["is killed", ["die", "9"], 137],
  ["ends well", ["exit", "0"], 0],
])("the termination log is the application's own when it %s", async (_, words, code) => {
  using folder = temporaryFolder();
  const path = join(folder.path, "termination-log");
  await Bun.write(path, "the application's own words\n");
  const ended = await ebb(["run", "--sidecar", "none", "--termination-log", path, "--", childPath(), ...words]);
  expect([ended.code, readFileSync(path, "utf8")]).toEqual([code, "the application's own words\n"]);
});

test("a termination log that cannot be written changes no exit code, and ebb says so", async () => {
  const flags = ["--sidecar", "none", "--termination-log", "/no/such/folder/log"];
  const { code, stderr } = await ebb(["run", ...flags, "--", "/no/such/command"]);
  expect({ code, stderr }).toEqual({ code: 127, stderr: expect.stringContaining("termination log") });
});
