import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { compiled } from "../../harness/compiled.ts";
import { ebb, logOf, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { descriptorsOf } from "../../harness/processes.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const deaf = compiled(resolve(import.meta.dirname, "../../fixtures/deaf.c"));
const O_NONBLOCK = 0o4000;

/** Says how its stderr is open, and when it runs; ends with 3 on TERM. */
const app =
  'grep flags /proc/$$/fdinfo/2; trap "exit 3" TERM; trap "echo heard" USR1; echo ready; while :; do sleep 0.05; done';

describe("a stderr that takes nothing holds up nothing:", () => {
  test.each(["pipe", "socket", "terminal"])("%s", async (kind) => {
    await using sidecar = await fakeSidecar();
    const urls = ["--ready", `${sidecar.url}/ready`, "--quit", `POST ${sidecar.url}/quitquitquit`];
    const args = ["run", "--log-level", "debug", ...urls, "--", "sh", "-c", app];
    await using started = startEbb(args, { through: [deaf, kind] });
    await until("the app runs", () => started.stdout().includes("ready"));
    started.kill("SIGTERM");
    const { code, stdout } = await started.ended;
    expect([code, sidecar.requests]).toEqual([3, ["POST /quitquitquit"]]);
    const [, flags = ""] = /flags:\s+(\d+)/.exec(stdout) ?? [];
    expect(Number.parseInt(flags, 8) & O_NONBLOCK).toBe(0); // the app's writes wait, as ever
  });

  test.each([
    ["wait", 69, ["wait", "--sidecar", "none", "--wait-timeout", "50ms", "file:/nosuch"]],
    ["an unknown flag", 64, ["run", "--nosuch", "--", "true"]],
    ["no command", 127, ["run", "--sidecar", "none", "--", "/nosuch"]],
    ["install", 71, ["install", "/nosuch/ebb"]],
  ])("an error's exit code (%s), and its reason in the termination log", async (_, code, [command = "", ...args]) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "termination");
    const all = [command, "--termination-log", path, ...args];
    expect((await ebb(all, { through: [deaf, "pipe"] })).code).toBe(code);
    expect(readFileSync(path, "utf8")).toMatch(/^ebb: .+\n$/);
  });

  test.each([
    ["a full disk", "/dev/full"],
    ["one that is closed", "&-"],
  ])("%s", async (_, to) => {
    const through = ["sh", "-c", `exec "$@" 2>${to}`, "sh"];
    expect((await ebb(["run", "--sidecar", "none", "--", "sh", "-c", "exit 7"], { through })).code).toBe(7);
  });
});

/** A named pipe that is full: who opens it, and what reads all that is in it. */
function fullPipe(folder: string) {
  const path = join(folder, "pipe");
  spawnSync("mkfifo", [path]);
  const end = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const filler = Buffer.alloc(4096, "x");
  filler[4095] = 10;
  while (attempt(() => writeSync(end, filler)) !== undefined);
  let text = "";
  const buffer = Buffer.alloc(65536);
  /** All whole lines so far. */
  const read = (): string => {
    for (let size: number | undefined = 1; size; ) {
      size = attempt(() => readSync(end, buffer));
      text += buffer.subarray(0, size ?? 0).toString();
    }
    return text.slice(0, text.lastIndexOf("\n"));
  };
  return { path, read, [Symbol.dispose]: () => closeSync(end) };
}

function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined; // EAGAIN
  }
}

/** How often a process has it open: twice, once ebb has found out that the pipe is full. */
function timesOpen(pid: number, path: string): number {
  return [...descriptorsOf(pid).values()].filter((each) => each === path).length;
}

test("a reader that goes on gets whole lines, and how many are missing", async () => {
  using folder = temporaryFolder();
  using pipe = fullPipe(folder.path);
  const long = (at: number) => `EBB_${at}_${"X".repeat(3500)}`; // shorter than what the log cuts off
  const env = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [long(at), ""]));
  const through = ["sh", "-c", 'exec "$@" 2>"$0"', pipe.path];
  await using started = startEbb(["run", "--sidecar", "none", "--", "sh", "-c", app], { env, through });
  await until("the app runs", () => started.stdout().includes("ready"));
  await until("ebb writes", () => timesOpen(started.pid, pipe.path) === 2);
  started.kill("SIGUSR1");
  await until("ebb has written what it had to say, and goes on", () => started.stdout().includes("heard"));
  const lost = await until("all is read", () =>
    logOf(pipe.read()).find(({ msg }) => msg.includes("dropped log lines")),
  );
  started.kill("SIGTERM");
  expect((await started.ended).code).toBe(3);
  const log = logOf(pipe.read());
  const variables = log.map(({ variable }) => variable).filter((name) => name !== undefined);
  expect(variables.length).toBeGreaterThan(0);
  expect(Object.keys(env)).toEqual(expect.arrayContaining(variables));
  const isStarted = log.some(({ msg }) => msg === "ebb: started the command");
  expect(lost.lines).toBe(Object.keys(env).length - variables.length + (isStarted ? 0 : 1));
  expect(log.at(-1)).toMatchObject({ msg: "ebb: done", exitCode: 3 });
}, 20_000);
