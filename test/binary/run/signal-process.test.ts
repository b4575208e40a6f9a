import { describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebb, ebbPath, isQuitLine, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, processState } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { agentFolder, hasEnded, startAgent } from "./agent.ts";

const quitWithin = (timeout: string) => ["quit", "--sidecar", "none", "--quit-timeout", timeout, "--signal-process"];
/** A third of it for each signal. */
const quit = quitWithin("1800ms");
const patientQuit = quitWithin("30s");
const run = ["run", "--sidecar", "none", "--quit-timeout", "1800ms", "--signal-process"];

describe("ebb quit --signal-process", () => {
  test.each<[string, string, readonly string[], string, string]>([
    ["ends at SIGINT", "30s", ["record", "2"], "gone after SIGINT", "ready\n2\n"],
    ["ignores SIGINT", "6s", ["record", "15"], "gone after SIGTERM", "ready\n2\n15\n"],
    ["ignores SIGINT and SIGTERM", "1800ms", ["record", "1"], "gone after SIGKILL", "ready\n2\n15\n"],
  ])("ends a process that %s", async (_, timeout, words, outcome, output) => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, ...words]);
    const { code, log } = await ebb([...quitWithin(timeout), folder.name]);
    expect(code).toBe(0);
    expect(log.at(-1)).toMatchObject({
      msg: "ebb: asked the sidecar to exit",
      sidecar: "custom",
      request: `signal ${folder.name} (pid ${agent.pid})`,
      outcome,
    });
    expect(hasEnded(agent.pid)).toBe(true);
    await until("its last word was read", () => agent.output() === output);
  });

  test("ends all of that name, at the same time, and nothing else", async () => {
    using folder = agentFolder();
    using other = agentFolder();
    await using first = await startAgent([folder.path, "ignore", "2"]);
    await using second = await startAgent([folder.path, "ignore", "2", "15"]);
    await using bystander = await startAgent([other.path, "record", "15", folder.name, folder.path]);
    const { code, log } = await ebb([...quit, folder.name]);
    expect(code).toBe(0);
    const reports = log.map(({ request, outcome }) => `${request} ${outcome}`);
    expect(reports.toSorted()).toEqual(
      [
        `signal ${folder.name} (pid ${first.pid}) gone after SIGTERM`,
        `signal ${folder.name} (pid ${second.pid}) gone after SIGKILL`,
      ].toSorted(),
    );
    expect(bystander.output()).toBe("ready\n");
  });

  test("takes a whole path, and no other file of that name", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "record", "2"]);
    expect((await ebb([...quit, `/no/such/${folder.name}`])).code).toBe(69);
    expect(agent.output()).toBe("ready\n");
    expect((await ebb([...patientQuit, folder.path])).code).toBe(0);
  });

  test("a name that only a script's arguments have is not found", async () => {
    using folder = agentFolder();
    await using shell = await startAgent(["/bin/sh", "-c", "echo ready; while sleep 0.2; do :; done", folder.name]);
    const { code, log } = await ebb([...quit, folder.name]);
    expect(code).toBe(69);
    expect(log.at(-1)?.outcome).toMatch(/^no such process.*shareProcessNamespace/);
    expect(hasEnded(shell.pid)).toBe(false);
  });

  test("a zombie is gone, whoever has yet to reap it", async () => {
    using folder = agentFolder();
    const script = '"$0" record 2 & exec sleep 60';
    await using parent = await startAgent(["/bin/sh", "-c", script, folder.path]);
    const [pid = 0] = childrenOf(parent.pid);
    const { code, log } = await ebb([...patientQuit, folder.name]);
    expect([code, log.at(-1)?.outcome, processState(pid)]).toEqual([0, "gone after SIGINT", "Z"]);
    expect((await ebb([...quit, folder.name])).log.at(-1)?.outcome).toMatch(/^no such process/);
  });

  test("several names, each with its own outcome; EBB_SIGNAL_PROCESS lists them", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "record", "2"]);
    const env = { EBB_SIGNAL_PROCESS: `${folder.name},no-such-${folder.name}` };
    const { code, log } = await ebb(["quit", "--sidecar", "none"], { env });
    expect(code).toBe(69);
    expect(log.map(({ level, request }) => [level, request])).toEqual([
      ["info", `signal ${folder.name} (pid ${agent.pid})`],
      ["error", `signal no-such-${folder.name}`],
    ]);
  });

  test("comes instead of a single sidecar's own quit", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "record", "2"]);
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--signal-process", folder.name];
    const { code, log } = await ebb(["quit", ...flags]);
    expect({ code, requests: sidecar.requests, gone: hasEnded(agent.pid) }).toEqual({
      code: 0,
      requests: [],
      gone: true,
    });
    expect(log.at(-1)?.sidecar).toBe("envoy");
  });

  test("a bad name is a usage error", async () => {
    const { code, stderr } = await ebb(["quit", "--signal-process", "bin/agent"]);
    expect(code).toBe(64);
    expect(stderr).toContain(
      '--signal-process: expected an executable\'s name such as pilot-agent, or its whole path, got "bin/agent"',
    );
  });
});

describe("ebb run --signal-process", () => {
  test("ends it after the command, and keeps the command's code", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "ignore", "2"]);
    const { code, log } = await ebb([...run, folder.name, "--", childPath(), "exit", "7"]);
    expect(code).toBe(7);
    expect(log.find(isQuitLine)).toMatchObject({ level: "info", outcome: "gone after SIGTERM" });
    expect(hasEnded(agent.pid)).toBe(true);
  });

  test("says so where there is none, and keeps the command's code", async () => {
    const { code, log } = await ebb([...run, "no-such-agent", "--", childPath(), "exit", "7"]);
    expect(code).toBe(7);
    expect(log.find(isQuitLine)).toMatchObject({
      level: "warn",
      request: "signal no-such-agent",
      outcome: expect.stringMatching(/^no such process/),
    });
  });
});

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)("a process of another user (which needs root)", () => {
  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

  test("is found by what it shows, and why it cannot be signalled is explained", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([folder.path, "record", "2"]);
    const { code, log } = await ebb([...quit, folder.name], { through: nobody });
    expect(code).toBe(69);
    expect(log.at(-1)).toMatchObject({
      request: `signal ${folder.name} (pid ${agent.pid})`,
      outcome: expect.stringMatching(/^SIGINT: operation not permitted: .*user.*KILL/),
    });
    expect(agent.output()).toBe("ready\n");
  });

  test("is ended by who may", async () => {
    using folder = agentFolder();
    await using agent = await startAgent([...nobody, folder.path, "record", "2"]);
    expect((await ebb([...quit, folder.name])).code).toBe(0);
    expect(hasEnded(agent.pid)).toBe(true);
  });
});

test.skipIf(!canUnshare("--pid", "--fork", "--mount-proc", "--kill-child"))(
  "ebb never signals itself, also as PID 1",
  async () => {
    const through = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
    const { code, log } = await ebb([...quit, "ebb"], { through });
    expect([code, log.at(-1)?.outcome]).toEqual([69, expect.stringMatching(/^no such process/)]);
  },
);

test.skipIf(!isRoot)("the log says that /proc is not mounted", async () => {
  using root = temporaryFolder();
  const inside = join(root.path, "ebb");
  copyFileSync(ebbPath, inside);
  const { code, log } = await ebb(["quit", "--sidecar", "none", "--signal-process", "x"], {
    through: ["/bin/sh", "-c", 'shift; exec chroot "$0" /ebb "$@"', root.path],
    cwd: "/",
  });
  expect([code, log.at(-1)?.outcome]).toEqual([69, "no process can be found: /proc cannot be read"]);
});
