import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../../package.json";
import { options } from "../../../src/shared/cli/core/options.ts";
import { ebb, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { catches } from "../../harness/processes.ts";
import { startRawServer } from "../../stand-in/raw-server.ts";

describe("ebb sleep", () => {
  test.each([
    ["50ms", 50],
    ["0.05", 50],
    ["0s", 0],
    ["0", 0],
    ["1ms50us", 1],
  ])("%s ends by itself with 0", async (duration, atLeastMs) => {
    const start = performance.now();
    expect(await ebb(["sleep", duration])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(performance.now() - start).toBeGreaterThanOrEqual(atLeastMs);
  });

  test.each([1, 2, 3, 15])("stop signal %d ends it with 128+n", async (signal) => {
    await using started = startEbb(["sleep", "1000h"], { through: ["env"] });
    await until("it sleeps", () => catches(started.pid, signal));
    started.kill(signal);
    const { code, signal: killer } = await started.ended;
    expect({ code, killer }).toEqual({ code: 128 + signal, killer: null });
  });

  test("signals that do not ask to stop do not end it", async () => {
    await using started = startEbb(["sleep", "300ms"], { through: ["env"] });
    await until("it sleeps", () => catches(started.pid, 10));
    for (const signal of [10, 12, 13, 14, 28]) started.kill(signal);
    expect((await started.ended).code).toBe(0);
  });

  test.each([[["soon"]], [[]], [["1s", "2s"]], [["-1s"]], [["--fast", "1s"]], [["1s", "--", "true"]]])(
    "%j is exit code 64",
    async (args) => {
      const { code, stderr } = await ebb(["sleep", ...args]);
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(/^ebb: .+\n$/) });
    },
  );
});

describe("ebb config", () => {
  const env = {
    EBB_GRACE: "10s",
    QUIT_REQUEST_TIMEOUT: "1",
    NEVER_KILL_ISTIO: "true",
    GENERIC_QUIT_ENDPOINTS: "http://a/,http://b/",
  };
  const flags = ["--wait-timeout", "90s", "--ready", "tcp://h:1", "--ready", "tcp://h:2"];

  test("says each option's value and where it came from", async () => {
    const { code, stdout, stderr } = await ebb(["config", ...flags], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const line of [
      /^grace +10s +EBB_GRACE$/m,
      /^quit-timeout +1 +QUIT_REQUEST_TIMEOUT$/m,
      /^quit-on +never +NEVER_KILL_ISTIO$/m,
      /^quit +\+http:\/\/a\/ \+http:\/\/b\/ +GENERIC_QUIT_ENDPOINTS$/m,
      /^wait-timeout +90s +--wait-timeout$/m,
      /^ready +tcp:\/\/h:1 tcp:\/\/h:2 +--ready$/m,
      /^detect-timeout +3s +default$/m,
    ])
      expect(stdout).toMatch(line);
    const [shown = "", stop] = stdout.trimEnd().split("\n\n");
    expect(stop).toBe("stop: 0s stop signal; at once to the app (no --drain); app killed by 10s (--grace 10s)");
    const flagsShown = shown.split("\n").map((line) => line.split(" ")[0]);
    expect(flagsShown).toEqual(
      Object.values(options)
        .map(({ flag }) => flag)
        .filter((flag) => flag !== "json"),
    );
  });

  test("--json says the same for programs", async () => {
    const { code, stdout } = await ebb(["config", "--json", ...flags], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      grace: { values: ["10s"], origin: "EBB_GRACE" },
      "wait-timeout": { values: ["90s"], origin: "--wait-timeout" },
      ready: { values: ["tcp://h:1", "tcp://h:2"], origin: "--ready" },
      "detect-timeout": { values: ["3s"], origin: "default" },
      stop: {
        values: ["0s stop signal", "at once to the app (no --drain)", "app killed by 10s (--grace 10s)"],
        origin: "planned",
      },
    });
  });

  test("warns of variables that set nothing, and refuses bad values", async () => {
    expect(await ebb(["config"], { env: { EBB_GRACEE: "1s" } })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("EBB_GRACEE"),
    });
    expect(await ebb(["config"], { env: { EBB_GRACE: "soon" } })).toMatchObject({ code: 64, stdout: "" });
  });
});

test.each(["--version", "-V", "-v", "version"])("ebb %s", async (flag) => {
  expect(await ebb([flag])).toMatchObject({ code: 0, stdout: `ebb ${packageJson.version}\n`, stderr: "" });
});

describe("the command line", () => {
  test.each([
    [
      "an unknown flag, with the nearest known one",
      ["run", "--wait-timeut", "1s", "--", "true"],
      /--wait-timeut.*--wait-timeout/,
    ],
    ["an unknown flag without an app", ["run", "--nosuch"], /--nosuch/],
    ["a short flag", ["run", "-x", "--", "true"], /unknown flag -x/],
    ["a flag of ebb's as a word", ["licenses"], /^ebb: licenses: no such command; did you mean "ebb --licenses"\?/],
    ["a slip in it", ["--verison"], /^ebb: --verison: a command comes first: write ebb --version\n$/],
    [
      "the short flag of other tools",
      ["run", "-v", "--", "true"],
      /did you mean --log-level debug, or ebb --version\?/,
    ],
    ["--verbose", ["run", "--verbose", "--", "true"], /did you mean --log-level debug\?/],
    ["run --wait", ["run", "--wait", "3s", "--", "true"], /did you mean --wait-timeout D, or --ready URL\?/],
    ["a negative time", ["sleep", "-1"], /^ebb: sleep: expected one duration such as 5s, got "-1"\n$/],
    ["a negative drain", ["drain", "-40s"], /^ebb: -40s: unexpected argument; usage: ebb drain/],
    [
      "a flag that was left out",
      ["drain", "40s"],
      /^ebb: 40s: unexpected argument; did you mean --drain 40s\? usage: /,
    ],
    ["the same of a sidecar", ["quit", "istio"], /^ebb: istio: .*; did you mean --sidecar istio\? usage: ebb quit/],
    ["the same of a namespace", ["doctor", "shop"], /; did you mean --namespace shop\? usage: ebb doctor/],
    ["a word that is no likely value", ["webhook", "shop"], /^ebb: shop: unexpected argument; usage: ebb webhook/],
    ["the same before a target", ["wait", "istio"], /got "istio"; did you mean --sidecar istio\?\n$/],
    ["a target without a port", ["wait", "tcp://db"], /got "tcp:\/\/db"; its port is missing: tcp:\/\/db:PORT\n$/],
    [
      "a sidecar's bad port",
      ["quit", "--sidecar", "istio:99999"],
      /: expected a port from 1 to 65535 after istio:, got /,
    ],
    [
      "none among sidecars",
      ["quit", "--sidecar", "istio,none"],
      /: expected none by itself, or sidecars without it, got /,
    ],
    [
      "two sidecars of a kind",
      ["drain", "--sidecar", "envoy:9901,envoy:9902"],
      /: expected one envoy; for the other, --ready http:\/\/localhost:9902\/ready and --quit \+http:\/\/localhost:9902\/quitquitquit, got /,
    ],
    [
      "two sidecars of a kind, by two flags",
      ["wait", "--sidecar", "cloud-sql-proxy", "--sidecar", "cloud-sql-proxy:9092"],
      /: expected one cloud-sql-proxy; for the other, --ready tcp:\/\/localhost:9092 and --quit \+http:\/\/localhost:9092\/quitquitquit, got "cloud-sql-proxy and cloud-sql-proxy:9092"\n$/,
    ],
    [
      "two sidecars by two flags",
      ["run", "--sidecar", "istio", "--sidecar", "dapr", "--", "true"],
      /: expected one list: istio,dapr, got "istio and dapr"\n$/,
    ],
    [
      "two admin interfaces",
      ["quit", "--admin", "http://a:b@localhost:1", "--admin", "unix:/b"],
      /: expected one URL; for the other Envoy, --ready URL\/ready and --quit \+URL\/quitquitquit, got "http:\/\/\*\*\*@localhost:1 and unix:\/b"\n$/,
    ],
    ["a slip in a sidecar", ["quit", "--sidecar", "auto,itsio"], /; did you mean istio\?\n$/],
    ["a header without a colon", ["quit", "--header", "abc"], /: expected NAME: VALUE, with a colon, got "\*\*\*"\n$/],
    ["no image", ["inject", "README.md"], /; neither the flag nor EBB_IMAGE is set\n$/],
    [
      "a kubeconfig that is not there",
      ["doctor", "--kubeconfig", "/nonexistent"],
      /^ebb: kubeconfig \/nonexistent: no such file or directory\n$/,
    ],
    ["a flag without its value", ["doctor", "-n"], /--namespace: expected a value \(.*\): names such as shop/],
    ["help itself with a slip in it", ["hlep", "run"], /did you mean "ebb help"\?/],
    [
      "a flag of other commands",
      ["sleep", "--json", "1s"],
      /^ebb: unknown flag --json\nebb: --json belongs to .*ebb config/,
    ],
    [
      "a command with a slip in it",
      ["wiat", "http://localhost:1/"],
      /^ebb: wiat: no such command; did you mean "ebb wait"\? /,
    ],
  ])("%s is exit code 64", async (_, args, message) => {
    expect(await ebb(args)).toMatchObject({ code: 64, stdout: "", stderr: expect.stringMatching(message) });
  });

  test.each([
    ["flags with =", ["run", "--sidecar=none", "--quiet", "--", "echo", "a"]],
    ["a flag twice, the same", ["run", "--sidecar=none", "--sidecar=none", "--quiet", "--", "echo", "a"]],
    ["-- may be left out", ["run", "--sidecar", "none", "--quiet", "echo", "a"]],
  ])("%s", async (_, args) => {
    expect(await ebb(args)).toMatchObject({ code: 0, stdout: "a\n", stderr: "" });
  });

  describe("a command is always named: in a live pod, anything else", () => {
    const first = "a command comes first: write";
    const none = (word: string) => `${word}: no such command (to run a program: ebb run -- ${word})`;

    test.each<[readonly string[], string]>([
      [["--quiet", "status"], `--quiet: ${first} ebb status --quiet ...`],
      [["--sidecar", "istio", "drain", "--drain", "3s"], `--sidecar: ${first} ebb drain --sidecar ...`],
      [["--sidecar", "none", "--", "true"], `--sidecar: ${first} ebb run --sidecar ... -- CMD`],
      [["--", "true"], `--: ${first} ebb run -- CMD`],
      ...["health", "env", "logs", "ps", "/bin/true"].map((word): [string[], string] => [[word], none(word)]),
      [["true", "--version"], none("true")],
      [["rnu"], 'rnu: no such command; did you mean "ebb run"? (to run a program: ebb run -- rnu)'],
      [["why", "web-0"], 'why: no such command; did you mean "kubectl ebb why"? (to run a program: ebb run -- why)'],
      [
        ["run", "status"],
        "run: status is a command of ebb: write ebb status or, to run a program of that name, ebb run -- status",
      ],
      [
        ["run", "--quiet", "sleep", "0"],
        "run: sleep is a command of ebb: write ebb sleep or, to run a program of that name, ebb run -- sleep",
      ],
    ])("is exit code 64, and asks nothing of the proxy: ebb %j", async (args, reason) => {
      await using proxy = await startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
      using folder = temporaryFolder();
      const url = `http://127.0.0.1:${proxy.port}`;
      const log = join(folder.path, "termination");
      const sidecar = { EBB_SIDECAR: "envoy", EBB_ADMIN: url, EBB_QUIT: `${url}/quit`, EBB_QUIT_TIMEOUT: "200ms" };
      const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", EBB_TERMINATION_LOG: log, ...sidecar };
      const message = `ebb: ${reason}\n`;
      expect(await ebb(args, { env })).toMatchObject({ code: 64, stdout: "", stderr: message });
      expect([readFileSync(log, "utf8"), proxy.received()]).toEqual([message, 0]);
    });

    test.each([
      ["after --", ["run", "--", "status"]],
      ["in another tool's call", ["scuttle", "status"]],
    ])("but a program of a command's name runs %s", async (_, args) => {
      using folder = temporaryFolder();
      writeFileSync(join(folder.path, "status"), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
      const env = { PATH: folder.path, EBB_SIDECAR: "none" };
      expect((await ebb(args, { env })).code).toBe(3);
    });
  });

  test.each(["run", "wait"])("after -- everything is the command's own: ebb %s", async (name) => {
    const flags = ["--sidecar", "none", "--quiet"];
    const { stdout } = await ebb([name, ...flags, "--", "echo", "--help", "--", "--version"]);
    expect(stdout).toBe("--help -- --version\n");
    expect((await ebb([name, ...flags, "--", "run"])).code).toBe(127);
  });
});
