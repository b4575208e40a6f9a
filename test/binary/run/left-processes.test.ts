import { describe, expect, test } from "bun:test";
import { SIG } from "../../../src/shared/core/signal.ts";
import { canUnshare, type Ended, ebb, startEbb, until } from "../../harness/ebb.ts";

const MESSAGE = "ebb: the command exited and left processes behind: if they are the app, run it in the foreground";
const namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];

const call = (script: string, flags: readonly string[] = []) => {
  return ["run", "--sidecar", "none", ...flags, "--", "sh", "-c", script];
};

/** The names of the processes in each warning; kills them. */
function leftIn({ log }: Ended): readonly (readonly string[])[] {
  return log
    .filter(({ msg }) => msg === MESSAGE)
    .map(({ level, how, processes }) => {
      expect([level, how]).toEqual(["warn", expect.stringContaining("exec APP")]);
      return (processes as readonly string[]).map((each) => {
        const [pid, name] = each.split(" ");
        process.kill(Number(pid), SIG.KILL);
        return name as string;
      });
    });
}

const sleep = "sleep 60 >/dev/null 2>&1";
/** Starts a process, and goes on once it sleeps in a session of its own. */
const daemon = `setsid ${sleep} & until read -r _ name _ _ _ session _ < /proc/$!/stat; [ "$name $session" = "(sleep) $!" ]; do :; done`;

describe("a command that ends with 0 and leaves processes is warned of, once:", () => {
  test.each([
    ["a daemon", daemon, [], ["sleep"]],
    ["what a script has put into the background", `${sleep} & ${sleep} &`, [], ["sleep", "sleep"]],
    ["with --signal-group, what is not in its group", `${sleep} & ${daemon}`, ["--signal-group"], ["sleep"]],
  ])("%s", async (_, script, flags, names) => {
    const ended = await ebb(call(script, flags));
    expect([ended.code, leftIn(ended)]).toEqual([0, [names]]);
    expect(ended.log.at(-1)?.msg).toBe("ebb: done");
  });

  test.skipIf(!canUnshare(...namespace))("as PID 1", async () => {
    const { code, log } = await ebb(call(daemon), { through: ["unshare", ...namespace] });
    const warnings = log.filter(({ msg }) => msg === MESSAGE);
    expect([code, warnings]).toEqual([
      0,
      [expect.objectContaining({ processes: [expect.stringMatching(/^\d+ sleep$/)] })],
    ]);
  });
});

describe("ebb does not warn of", () => {
  test.each([
    ["a helper that ends soon after it", "sleep 0.01 &", 0],
    ["another exit code, which tells by itself", "sleep 0.3 >/dev/null 2>&1 & exit 3", 3],
    ["nothing", "exit 0", 0],
  ])("%s", async (_, script, code) => {
    const ended = await ebb(call(script));
    expect([ended.code, leftIn(ended)]).toEqual([code, []]);
  });

  test("what is left after a stop signal", async () => {
    const script = `trap "exit 0" TERM; sleep 1 >/dev/null 2>&1 & echo ready; wait`;
    await using started = startEbb(call(script));
    await until("it is ready", () => started.stdout() === "ready\n");
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect([ended.code, leftIn(ended)]).toEqual([0, []]);
  });

  test("what was there before ebb", async () => {
    const through = ["sh", "-c", `sleep 1 >/dev/null 2>&1 & exec "$@"`, "sh"];
    const ended = await ebb(call("exit 0"), { through });
    expect([ended.code, leftIn(ended)]).toEqual([0, []]);
  });
});
