import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebbPath, logOf, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf } from "../../harness/processes.ts";
import { type StandInEnvoy, startEnvoy } from "../../stand-in/envoy.ts";
import { busy, idle } from "../../stand-in/envoy-answers.ts";
import { startAtTerminal } from "../run/at-terminal.ts";

setDefaultTimeout(20_000);

function drain(envoy: StandInEnvoy, ...flags: readonly string[]): readonly string[] {
  return ["drain", "--admin", envoy.url, "--drain", "20s", "--min-drain", "100ms", ...flags];
}

const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

describe.skipIf(!canUnshare(...namespace.slice(1)))("as an exec hook (in a PID namespace, which needs root)", () => {
  interface Container extends AsyncDisposable {
    /** What runs a command in it as the container runtime does: without a parent there. */
    readonly enter: readonly string[];
  }

  /** A container whose PID 1 does nothing, with this descriptor as its stderr. */
  async function startContainer(stderr: number): Promise<Container> {
    const unshare = Bun.spawn([...namespace, childPath(), "record"], { stdio: ["ignore", "pipe", stderr] });
    const pid = await until("PID 1 runs", () => {
      const [pid = 0] = childrenOf(unshare.pid);
      return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(childPath()) && pid;
    });
    return {
      enter: ["nsenter", "--target", `${pid}`, "--pid", "--mount", "--"],
      async [Symbol.asyncDispose]() {
        unshare.kill("SIGKILL");
        await unshare.exited;
      },
    };
  }

  test.concurrent("what it says stands in the pod's log too, as JSON", async () => {
    using folder = temporaryFolder();
    await using envoy = await startEnvoy();
    const path = join(folder.path, "log");
    const stderr = openSync(path, "a");
    await using container = await startContainer(stderr);
    await using started = startEbb(drain(envoy), { through: container.enter });
    const ended = await started.ended;
    expect(ended.log.map(({ msg }) => msg)).toContain("ebb: drain ended");
    expect(readFileSync(path, "utf8")).toBe(ended.stderr);
    expect(ended.code).toBe(0);
    closeSync(stderr);
  });

  test.concurrent("at a terminal too: lines for people there, JSON in the pod's log", async () => {
    using folder = temporaryFolder();
    await using envoy = await startEnvoy();
    const path = join(folder.path, "log");
    const stderr = openSync(path, "a");
    await using container = await startContainer(stderr);
    await using at = startAtTerminal(...container.enter, ebbPath, ...drain(envoy));
    expect(await at.exited).toBe(0);
    expect(at.screen()).toContain("ebb: drain ended sidecar=envoy outcome=drained");
    const log = readFileSync(path, "utf8");
    expect(logOf(log).map(({ msg }) => msg)).toContain("ebb: drain ended");
    expect(log).not.toContain("\x1b");
    closeSync(stderr);
  });

  test.concurrent("a pod's log that takes no more does not hold it up", async () => {
    using folder = temporaryFolder();
    await using envoy = await startEnvoy();
    const path = join(folder.path, "pipe");
    spawnSync("mkfifo", [path]);
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const filled = fill(pipe);
    await using container = await startContainer(pipe);
    await using started = startEbb(drain(envoy), { through: container.enter });
    const ended = await started.ended;
    expect(ended.log.map(({ msg }) => msg)).toContain("ebb: drain ended");
    expect(ended.code).toBe(0);
    expect(readSync(pipe, Buffer.alloc(2 * filled))).toBe(filled);
    closeSync(pipe);
  });

  test.concurrent("a pod's log that nobody reads any more does not end it", async () => {
    using folder = temporaryFolder();
    await using envoy = await startEnvoy();
    envoy.stats = busy(1);
    const path = join(folder.path, "pipe");
    spawnSync("mkfifo", [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    await using container = await startContainer(writer);
    await using started = startEbb(drain(envoy), { through: container.enter });
    await until("it counts", () => started.stderr().includes('"connections":1'));
    closeSync(reader);
    envoy.stats = idle;
    const ended = await started.ended;
    expect(ended.log.at(-1)).toMatchObject({ msg: "ebb: drain ended", outcome: "drained" });
    expect(ended.code).toBe(0);
    closeSync(writer);
  });

  test.concurrent("but where PID 1 has started it, PID 1's stderr is not written to", async () => {
    using folder = temporaryFolder();
    await using envoy = await startEnvoy();
    const script = 'exec 2>"$0/pid-1"; (exec "$@" 2>"$0/ebb"); exit $?';
    await using started = startEbb(drain(envoy), { through: [...namespace, "/bin/sh", "-c", script, folder.path] });
    expect((await started.ended).code).toBe(0);
    expect(readFileSync(join(folder.path, "ebb"), "utf8")).toContain('"msg":"ebb: drain ended"');
    expect(readFileSync(join(folder.path, "pid-1"), "utf8")).toBe("");
  });

  /** Fills a pipe; how many bytes that took. */
  function fill(pipe: number): number {
    for (let filled = 0; ; ) {
      try {
        filled += writeSync(pipe, Buffer.alloc(4096, "x"));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return filled;
        throw error;
      }
    }
  }
});

describe("at a terminal", () => {
  /** What stands there in the end. */
  function shownAtEnd(sent: string): readonly string[] {
    const lines = sent.split("\n").map((line) => line.split("\r\x1b[K").at(-1) as string);
    return lines.map((line) => line.replace(/\r$/, ""));
  }

  test.concurrent("a line at the bottom says how far it is, and goes at the end; what is said before stands above it", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(2);
    await using at = startAtTerminal(ebbPath, ...drain(envoy));
    await at.shows(/draining 0m?s of 20s: still accepting/);
    await at.shows(/draining \d+m?s of 20s: envoy: 0 requests, 2 connections/);
    envoy.stats = busy(1);
    await at.shows(/draining \d+m?s of 20s: envoy: 0 requests, 1 connections?/);
    envoy.stats = idle;
    expect(await at.exited).toBe(0);
    const lines = shownAtEnd(at.sent());
    expect(lines.at(-1)).toBe("");
    for (const line of lines.slice(0, -1)) expect(line).toStartWith("ebb: ");
    expect(lines.filter((line) => line.startsWith("ebb: in flight"))).toEqual([
      "ebb: in flight sidecar=envoy requests=0 connections=2",
      "ebb: in flight sidecar=envoy requests=0 connections=1",
      "ebb: in flight sidecar=envoy requests=0 connections=0",
    ]);
  });

  test.concurrent("Ctrl-C ends it, and the line at the bottom goes", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(2);
    await using at = startAtTerminal(ebbPath, ...drain(envoy));
    await at.shows("2 connections");
    at.type("\x03");
    expect(await at.exited).toBe(130);
    const lines = shownAtEnd(at.sent()).map((line) => line.replace("^C", ""));
    expect(lines.at(-1)).toBe("");
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^ebb: /);
  });

  test.concurrent("where stderr is none there is no such line", async () => {
    await using envoy = await startEnvoy();
    await using started = startEbb(drain(envoy, "--log-format", "text"));
    const { stderr } = await started.ended;
    expect(stderr).toContain("ebb: drain ended sidecar=envoy outcome=drained");
    expect(stderr).not.toContain("\x1b");
  });
});
