import { describe, expect, test } from "bun:test";
import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { type InitFeature, type InitFeatureName, initFeatures } from "../../../build/inits.ts";
import { SIG } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { canUnshare, ebbPath, inParallel, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { childrenOf, processState } from "../../harness/processes.ts";
import { startAtTerminal } from "./at-terminal.ts";

// What tini and dumb-init promise, asked of them and of ebb alike, so that it is known what users of those expect. Where they
// differ, each one's way stands here. `npm test` installs both; one that is not there is left out.

type Name = keyof InitFeature;

interface Init {
  readonly name: Name;
  readonly path: string;
  /** The signals that it forwards to a child alone. */
  readonly forwards: readonly number[];
  readonly notFound: number;
  readonly notExecutable: number;
  /** Whether a signal that it was started with as ignored is still ignored in the child. */
  readonly keepsIgnored: boolean;
  /** Whether its own working directory becomes `/`. */
  readonly leavesFolder: boolean;
  /** Whether TSTP, TTIN and TTOU, without a terminal, stop it, too. */
  readonly stops: "never" | "with the child" | "always";
}

const child = childPath();
const all = range(1, 64).filter((signal) => ![SIG.KILL, SIG.STOP, SIG.CHLD].some((each) => each === signal));
const faults: readonly number[] = [SIG.ILL, SIG.TRAP, SIG.ABRT, SIG.BUS, SIG.FPE, SIG.SEGV, SIG.SYS];
const stops: readonly number[] = [SIG.TSTP, SIG.TTIN, SIG.TTOU];
const libcs: readonly number[] = [32, 33];

const inits: readonly Init[] = [
  {
    name: "ebb",
    path: ebbPath,
    forwards: all,
    notFound: 127,
    notExecutable: 126,
    keepsIgnored: true,
    leavesFolder: true,
    stops: "with the child",
  },
  {
    name: "tini",
    path: Bun.which("tini") ?? "",
    forwards: all.filter((signal) => ![...faults, ...libcs, SIG.TTIN, SIG.TTOU].includes(signal)),
    notFound: 127,
    notExecutable: 126,
    keepsIgnored: true,
    leavesFolder: false,
    stops: "never",
  },
  {
    name: "dumb-init",
    path: Bun.which("dumb-init") ?? "",
    forwards: all.filter((signal) => signal < 32 && !stops.includes(signal)),
    notFound: 2,
    notExecutable: 2,
    keepsIgnored: false,
    leavesFolder: true,
    stops: "always",
  },
];

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** Signals whose default is to do nothing, or to stop: they end no process (signal(7)). */
const harmless: readonly number[] = [17, 18, 19, 20, 21, 22, 23, 28];
const fatal = range(1, 64).filter((signal) => !harmless.includes(signal));

describe.each(inits.map((init) => [init.name, init] as const))("%s:", (name, init) => {
  const test_ = test.skipIf(init.path === "");

  /** The words that start a command under it; undefined where it has no flags for what is wanted. */
  function words(wish: InitFeatureName, command: readonly string[]): readonly string[] | undefined {
    const flags = (initFeatures[wish] as InitFeature)[name];
    const own = name === "ebb" ? ["run", "--sidecar", "none", "--quiet"] : [];
    return flags && [...own, ...flags, "--", ...command];
  }

  const alone: InitFeatureName = "signals go only to the child";

  function start(command: readonly string[], wish: InitFeatureName = alone, through: readonly string[] = []): Started {
    return startEbb(words(wish, command) ?? [], { program: init.path, through });
  }

  async function startReady(command: readonly string[], wish = alone, through: readonly string[] = []) {
    const started = start(command, wish, through);
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    return started;
  }

  async function codeOf(command: readonly string[], wish?: InitFeatureName): Promise<number> {
    await using started = start(command, wish);
    const { code, signal } = await started.ended;
    expect(signal).toBeNull();
    return code;
  }

  /** Tests what the init can do. */
  function testWish(wish: InitFeatureName, run: () => Promise<void>): void {
    if (words(wish, []) !== undefined) test_(wish, run);
  }

  test_(
    "each of the 256 exit codes is the child's, unchanged",
    async () => {
      const codes = range(0, 255);
      expect(await inParallel(codes, (code) => codeOf([child, "exit", String(code)]))).toEqual(codes);
    },
    60_000,
  );

  test_(
    "a child that signal n ends is exit code 128+n, for each signal that can end one",
    async () => {
      const codes = await inParallel(fatal, (signal) => codeOf([child, "die", String(signal)]));
      expect(codes).toEqual(fatal.map((signal) => 128 + signal));
    },
    60_000,
  );

  test_("a command that is not found, or cannot be executed", async () => {
    expect(await codeOf(["/no/such/command"])).toBe(init.notFound);
    expect(await codeOf(["/etc/passwd"])).toBe(init.notExecutable);
  });

  test_("each signal that it forwards reaches the child, once", async () => {
    await using started = await startReady([child, "record", "9"]);
    for (const signal of init.forwards) {
      process.kill(started.pid, signal);
      await until(`the child has ${signal}`, () => started.stdout().endsWith(`\n${signal}\n`));
    }
    expect(started.stdout()).toBe(`ready\n${init.forwards.join("\n")}\n`);
  });

  /** Without a terminal. */
  async function startInGroup(command: readonly string[], wish = alone) {
    const started = await startReady(command, wish, [child, "group"]);
    const [pid = 0] = childrenOf(started.pid);
    const are = (own: string, childs: string) =>
      until(
        `it is ${own}, the child ${childs}`,
        () => processState(started.pid) === own && processState(pid) === childs,
      );
    return { started, are };
  }

  const stopping = stops.filter((signal) => init.stops !== "never" || init.forwards.includes(signal));

  test_.each(stopping)("signal %d stops a child that does not catch it, SIGCONT continues it", async (signal) => {
    const { started, are } = await startInGroup([child, "ignore"]);
    await using _started = started;
    for (const _ of [1, 2]) {
      process.kill(started.pid, signal);
      await are(init.stops === "never" ? "S" : "T", "T");
      process.kill(started.pid, SIG.CONT);
      await are("S", "S");
    }
    process.kill(started.pid, SIG.TERM);
    expect((await started.ended).code).toBe(128 + SIG.TERM);
  });

  interface Catch {
    /** The states that the init and the child come to. */
    readonly own: "S" | "T";
    readonly childs: "S" | "T";
    /** What the child gets. */
    readonly came: readonly number[];
  }

  async function expectCaught(signal: number, wish: InitFeatureName, { own, childs, came }: Catch): Promise<void> {
    const { started, are } = await startInGroup([child, "record"], wish);
    await using _started = started;
    process.kill(started.pid, signal);
    await are(own, childs);
    if (own === "T") process.kill(started.pid, SIG.CONT);
    await until(`the child has ${came}`, () => started.stdout().split("\n").length >= came.length + 2);
    await are("S", "S");
    process.kill(started.pid, SIG.TERM);
    const { code, stdout } = await started.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `ready\n${[...came, SIG.TERM].join("\n")}\n` });
  }

  test_.each(stops)("signal %d to a child that catches it", async (signal) => {
    const forwards = init.forwards.filter((each) => each === signal);
    const stopped: Catch = { own: "T", childs: "S", came: [signal, SIG.CONT] };
    const running: Catch = { own: "S", childs: "S", came: forwards };
    await expectCaught(signal, alone, init.stops === "always" ? stopped : running);
  });

  if (name === "dumb-init") {
    test_.each(stops)("signal %d to a process group is STOP", async (signal) => {
      const wish = "signals go to the child's process group";
      await expectCaught(signal, wish, { own: "T", childs: "T", came: [SIG.CONT] });
    });
  }

  test_("its working directory, and the child's", async () => {
    using folder = temporaryFolder();
    const cwd = folder.path;
    await using started = startEbb(words(alone, [child, "record"]) ?? [], { program: init.path, cwd });
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    const [pid = 0] = childrenOf(started.pid);
    const folderOf = (each: number) => readlinkSync(`/proc/${each}/cwd`);
    expect(folderOf(pid)).toBe(cwd);
    await until("it has left", () => folderOf(started.pid) === (init.leavesFolder ? "/" : cwd));
    process.kill(started.pid, SIG.TERM);
    expect((await started.ended).code).toBe(0);
  });

  /** What a process that blocks all signals, left in the group of a child that has ended with code 7, was sent; KILL where it is gone. */
  async function sentToLeft(wish: InitFeatureName): Promise<readonly number[]> {
    const leave = `sleep 60 >/dev/null 2>&1 & echo "grandchild $!"; exit 7`;
    await using started = start([child, "blocked", "/bin/sh", "-c", leave], wish);
    const { code, stdout } = await started.ended;
    expect(code).toBe(7);
    const left = Number(/^grandchild (\d+)\n/.exec(stdout)?.[1]);
    if ([undefined, "Z"].includes(processState(left))) return [SIG.KILL];
    const pending = BigInt(`0x${/^ShdPnd:\t(\w+)$/m.exec(readFileSync(`/proc/${left}/status`, "latin1"))?.[1]}`);
    process.kill(left, SIG.KILL);
    return range(1, 64).filter((signal) => ((pending >> BigInt(signal - 1)) & 1n) === 1n);
  }

  test_("what the child leaves in its process group lives on, where signals go only to the child", async () => {
    expect(await sentToLeft(alone)).toEqual([]);
  });

  if (name === "tini") {
    test_("and with tini, where they go to the group, too", async () => {
      expect(await sentToLeft("signals go to the child's process group")).toEqual([]);
    });
  }

  testWish("processes left in the child's group get TERM", async () => {
    expect(await sentToLeft("processes left in the child's group get TERM")).toEqual([SIG.TERM]);
  });

  testWish("processes left in the child's group get KILL after 1 s", async () => {
    expect(await sentToLeft("processes left in the child's group get KILL after 1 s")).toEqual([SIG.KILL]);
  });

  test_("a signal that it was started with as ignored: what the child starts with", async () => {
    const through = ["env", "--ignore-signal=HUP,USR1"];
    await using started = start([child, "signals"], alone, through);
    const ignored = Number.parseInt(/^ignored (\w+)/.exec((await started.ended).stdout)?.[1] ?? "", 16);
    expect(ignored).toBe(init.keepsIgnored ? (1 << (SIG.HUP - 1)) | (1 << (SIG.USR1 - 1)) : 0);
  });

  test_("what the child has open is what it was started with", async () => {
    const command = [child, "descriptors"];
    const through = ["bash", "-c", 'exec 5</dev/null 77>/dev/null; "$@"', "bash"];
    const direct = Bun.spawnSync([...through, ...command], { stdin: "ignore" }).stdout.toString();
    const numbers = (text: string) => [...text.matchAll(/^(\d+) /gm)].map(([, number]) => Number(number));
    await using started = start(command, alone, through);
    expect(numbers((await started.ended).stdout)).toEqual(numbers(direct));
    expect(numbers(direct)).toEqual([0, 1, 2, 5, 77]);
  });

  test_("a grandchild that keeps stdout open holds it up no longer than the child lives", async () => {
    const { stdout, pid, exited } = Bun.spawn(
      [init.path, ...(words(alone, ["sh", "-c", "sleep 100 & echo $!; exit 7"]) ?? [])],
      { stdin: "ignore", stdout: "pipe", stderr: "ignore" },
    );
    expect(await exited).toBe(7);
    expect(processState(pid)).toBeUndefined();
    const { value } = await stdout.getReader().read();
    process.kill(Number(new TextDecoder().decode(value)), SIG.KILL);
  });

  test_("at a terminal the child's process group is in the foreground", async () => {
    await using at = startAtTerminal(init.path, ...(words(alone, [child, "self"]) ?? []));
    const [, group, foreground] = await at.shows(/group (\d+)\n(?:.*\n)*foreground (\d+)\n/);
    expect(foreground).toBe(group as string);
    expect(await at.exited).toBe(0);
  });

  test_.skipIf(!canBePid1)("as PID 1 it reaps orphans while the child works (which needs root)", async () => {
    const script = `"$0" orphans 500 0 && exec "$0" record`;
    await using started = start(["sh", "-c", script, child], alone, namespace);
    await until("the child is ready", () => started.stdout().includes("ready\n"));
    const pid = await until("it is PID 1", () => childrenOf(started.pid).find((each) => isRunning(each, init.path)));
    await until("the child is the only one left", () => childrenOf(pid).length === 1);
    process.kill(pid, SIG.TERM);
    expect((await started.ended).code).toBe(0);
  });

  testWish("signals go only to the child", async () => {
    await using started = await startReady([child, "child"]);
    const grandchild = await grandchildOf(started);
    process.kill(started.pid, SIG.TERM);
    await until("it ends", () => processState(started.pid) === undefined);
    await until("the grandchild waits for signals", () => processState(grandchild) === "S");
    process.kill(grandchild, SIG.KILL);
    expect((await started.ended).code).toBe(128 + SIG.TERM);
  });

  testWish("signals go to the child's process group", async () => {
    await using started = await startReady([child, "child"], "signals go to the child's process group");
    const grandchild = await grandchildOf(started);
    process.kill(started.pid, SIG.TERM);
    await until("the grandchild has ended", () => [undefined, "Z"].includes(processState(grandchild)));
    expect((await started.ended).code).toBe(128 + SIG.TERM);
  });

  testWish("a signal is rewritten", async () => {
    await using started = await startReady([child, "record", "3"], "a signal is rewritten");
    process.kill(started.pid, SIG.TERM);
    expect((await started.ended).stdout).toBe(`ready\n${SIG.QUIT}\n`);
  });

  testWish("a signal is dropped", async () => {
    await using started = await startReady([child, "record", "12"], "a signal is dropped");
    for (const signal of [SIG.TERM, SIG.USR1, SIG.TERM, SIG.USR2]) process.kill(started.pid, signal);
    expect((await started.ended).stdout).toBe(`ready\n${SIG.USR1}\n${SIG.USR2}\n`);
  });

  testWish("an exit code becomes 0", async () => {
    const ends = [
      ["exit", "143"],
      ["die", "15"],
      ["exit", "142"],
      ["die", "9"],
    ];
    const codes = await inParallel(ends, (end) => codeOf([child, ...end], "an exit code becomes 0"));
    expect(codes).toEqual([0, 0, 142, 137]);
  });

  testWish("adopts orphans even if it is not PID 1", async () => {
    const script = `(sleep 60 >/dev/null 2>&1 & echo "orphan $!"); exec "$0" record`;
    await using started = await startReady(["sh", "-c", script, child], "adopts orphans even if it is not PID 1");
    const orphan = Number(/^orphan (\d+)$/m.exec(started.stdout())?.[1]);
    expect(childrenOf(started.pid)).toContain(orphan);
    process.kill(orphan, SIG.KILL);
    await until("it is reaped", () => processState(orphan) === undefined);
    process.kill(started.pid, SIG.TERM);
    expect((await started.ended).code).toBe(0);
  });

  testWish("gets a signal when its parent dies", async () => {
    const through = ["sh", "-c", '"$@" & wait', "sh"];
    await using shell = start([child, "record"], "gets a signal when its parent dies", through);
    await until("the child is ready", () => shell.stdout().includes("ready\n"));
    process.kill(shell.pid, SIG.KILL);
    expect((await shell.ended).stdout).toBe(`ready\n${SIG.TERM}\n`);
  });
});

const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const canBePid1 = canUnshare("--pid", "--fork", "--mount-proc", "--kill-child");

function isRunning(pid: number, program: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(program);
  } catch {
    return false; // it is gone, or not started yet
  }
}

/** The pid that `child` wrote. */
function grandchildOf(started: Started): Promise<number> {
  return until("a grandchild", () => Number(/^grandchild (\d+)\n/m.exec(started.stdout())?.[1]));
}
