import { describe, expect, test } from "bun:test";
import { readFileSync, readlinkSync } from "node:fs";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebbPath, type StartOptions, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { processState } from "../../harness/processes.ts";

// What a command is started with: the same, whether ebb stands in between or not.

const ways = [
  ["run", [ebbPath, "run", "--sidecar", "none", "--quiet", "--"]],
  ["wait", [ebbPath, "wait", "--sidecar", "none", "--quiet", "--"]],
] as const;

/** What the command says when it is started through `starter`, with `before` (ebb, or nothing) in between. */
function said(starter: readonly string[], before: readonly string[], command: readonly string[], cwd = "/"): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...starter, ...before, ...command], {
    env: { PATH: process.env.PATH ?? "", LANG: "C" },
    cwd,
    stdin: "ignore",
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.toString();
}

function shell(script: string): readonly string[] {
  return ["bash", "-c", `${script}; exec "$@"`, "bash"];
}

const manyDescriptors = 'ulimit -n 4096; for i in {10..3000} 4095; do eval "exec $i</dev/null"; done';

/** The parts of the kernel's view that a starter hands down. */
const view = [
  "cat /proc/self/limits /proc/self/oom_score_adj /proc/self/timerslack_ns /proc/self/coredump_filter",
  "cat /proc/self/cgroup /proc/self/personality",
  "grep -E '^(Umask|Uid|Gid|Groups|Sig[BIC]|Cap|NoNewPrivs|Seccomp|Speculation|THP|Cpus_a|Mems_a|Threads)' /proc/self/status",
  "nice; pwd; ls -l /proc/self/ns /proc/self/root",
].join("; ");

describe.each(ways)("ebb %s hands down", (_, ebb) => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["environment, byte for byte, nothing added", ["strange"], ["environment"]],
    ["arguments, byte for byte", ["strange"], ["arguments", "a b", "", "--sidecar", "ü"]],
  ])("the %s", (_, starter, words) => {
    const command = [childPath(), ...words];
    const direct = said([childPath(), ...starter], [], command);
    expect(said([childPath(), ...starter], ebb, command)).toBe(direct);
    expect(direct).toContain("\\xff\\xfe");
  });

  test.each<[string, readonly string[]]>([
    ["none ignored or blocked", []],
    ["some ignored", ["env", "--ignore-signal=HUP,INT,PIPE,USR1,XFSZ,TTOU"]],
    ["SIGCHLD ignored", ["env", "--ignore-signal=CHLD"]],
    ["all ignored", ["env", "--ignore-signal"]],
    ["some blocked", ["env", "--block-signal=HUP,TERM,CHLD,USR1,PIPE"]],
    ["all blocked", ["env", "--block-signal"]],
  ])("signal dispositions and mask: %s", (_, starter) => {
    const command = [childPath(), "signals"];
    expect(said(starter, ebb, command)).toBe(said(starter, [], command));
  });

  test.each([
    ["standard ones only", ":"],
    ["more", "exec 5</dev/null 7>>/dev/null 9<&1 255</"],
    ["a high one", "exec 700</dev/null"],
    ["thousands", manyDescriptors],
    ["closed stdin", "exec <&-"],
    ["closed stdin and stderr", "exec <&- 2>&-"],
    ["closed stdin, and another in its place's neighbourhood", "exec <&- 3</dev/null"],
    ["a pipe as stdin", "exec < <(true)"],
  ])("the open descriptors and no others: %s", (_, script) => {
    const command = [childPath(), "descriptors"];
    expect(said(shell(script), ebb, command)).toBe(said(shell(script), [], command));
  });

  test.skipIf(!canUnshare("--mount"))(
    "thousands of open descriptors where there is no /proc (which needs root)",
    () => {
      const command = [childPath(), "descriptors"];
      const starter = ["unshare", "--mount", ...shell(`umount -l /proc; ${manyDescriptors}`)];
      expect(said(starter, ebb, command)).toBe(said(starter, [], command));
    },
  );

  test.each([
    ["as they are", ":"],
    ["lower limits", "ulimit -Sn 333; ulimit -Ss 4096; ulimit -Hn 900; ulimit -c 0"],
    ["umask, niceness and the rest", "umask 027; renice -n 5 $$ >/dev/null; echo 321 > /proc/self/oom_score_adj"],
    ["one processor", "taskset -pc 0 $$ >/dev/null"],
  ])("limits, umask, user, capabilities, scheduling: %s", (_, script) => {
    const command = ["sh", "-c", view];
    expect(said(shell(script), ebb, command)).toBe(said(shell(script), [], command));
  });

  test.skipIf(process.getuid?.() !== 0)("another user's identity, without capabilities (which needs root)", () => {
    const become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs"];
    const command = ["sh", "-c", view];
    expect(said(become, ebb, command)).toBe(said(become, [], command));
  });

  test("the working directory, also one that was removed", () => {
    using folder = temporaryFolder();
    const script = `mkdir gone; cd gone; rmdir ../gone`;
    expect(said([], ebb, ["pwd", "-P"], folder.path)).toBe(`${folder.path}\n`);
    const command = ["readlink", "/proc/self/cwd"];
    expect(said(shell(script), ebb, command, folder.path)).toBe(`${folder.path}/gone (deleted)\n`);
  });

  test("standard input, unread", async () => {
    const cat = Bun.spawn([...ebb, "cat"], { stdin: new Blob(["x".repeat(300_000)]), stdout: "pipe" });
    expect((await cat.stdout.text()).length).toBe(300_000);
  });
});

async function startSelf(args: readonly string[], options?: StartOptions) {
  const started = startEbb([...args, "--", childPath(), "self"], options);
  const { stdout, code } = await started.ended;
  expect(code).toBe(0);
  const facts = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ")),
  );
  return { pid: started.pid, self: facts as Record<string, string> };
}

test("run: the child is ebb's own child, leads a process group of its own, and stays in ebb's session", async () => {
  const { pid, self } = await startSelf(["run", "--sidecar", "none"]);
  const session = /\) \S \d+ \d+ (\d+)/.exec(readFileSync("/proc/self/stat", "latin1"))?.[1];
  expect(self).toMatchObject({ parent: String(pid), group: self.pid, session });
});

test("wait: the command is the same process, and nothing of ebb is left in it", async () => {
  const { pid, self } = await startSelf(["wait", "--sidecar", "none"]);
  expect(self).toMatchObject({ pid: String(pid), parent: String(process.pid) });
  await using started = startEbb(["wait", "--sidecar", "none", "--quiet", "--", childPath(), "ignore"]);
  await until("the command runs", () => started.stdout() === "ready\n");
  expect(readlinkSync(`/proc/${started.pid}/exe`)).toBe(childPath());
  expect(readFileSync(`/proc/${started.pid}/maps`, "utf8")).not.toContain(ebbPath);
  expect(readFileSync(`/proc/${started.pid}/status`, "utf8")).toMatch(/^Threads:\t1$/m);
  expect(readFileSync(`/proc/${started.pid}/cmdline`, "utf8")).toBe(`${childPath()}\0ignore\0`);
  started.kill("SIGTERM");
  expect((await started.ended).signal).toBe("SIGTERM");
  expect(processState(started.pid)).toBeUndefined();
});
