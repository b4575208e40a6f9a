import { expect, test } from "bun:test";
import { SIG } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, startEbb, until } from "../../harness/ebb.ts";
import { childrenOf, descriptorsOf } from "../../harness/processes.ts";
import { settled } from "../../harness/time.ts";

const run = ["run", "--sidecar", "none", "--quiet", "--"];

/** Returns what ebb has open, but for what its garbage collector reads, which it closes at once. */
function keptBy(pid: number): ReadonlyMap<number, string> {
  return new Map([...descriptorsOf(pid)].filter(([, path]) => !path.endsWith("/statm")));
}

test("the child has none of ebb's own, and ebb has no more after many signals and orphans than before", async () => {
  const script = `"$0" orphans 10 0; echo begun; read go; "$0" orphans 300 0; exec "$0" record`;
  const through = ["sh", "-c", 'sleep 1 | "$@"', "sh"];
  await using started = startEbb([...run, "sh", "-c", script, childPath()], { through });
  await until("the child has begun", () => started.stdout().includes("begun\n"));
  const pid = childrenOf(started.pid).at(-1) as number;
  // what the start itself needed goes a moment after the child has said its first word
  await settled("ebb's descriptors", () => [...keptBy(pid)].join(), 200);
  const before = keptBy(pid);
  await until("the child records", () => started.stdout().includes("ready\n"));
  for (let sent = 1; sent <= 100; sent++) {
    process.kill(pid, SIG.USR1);
    await until("the child has it", () => started.stdout().split(`${SIG.USR1}\n`).length > sent);
  }
  await until("the orphans are reaped", () => childrenOf(pid).length === 1);
  expect(keptBy(pid)).toEqual(before);
  const ofChild = descriptorsOf(childrenOf(pid)[0] as number);
  const ofEbb = [...before.values()];
  expect([...ofChild.values()].filter((each) => ofEbb.includes(each))).toEqual(ofEbb.slice(0, 3));
  process.kill(pid, SIG.TERM);
  expect((await started.ended).code).toBe(0);
});

test("a child that closes its stdout and stderr is waited for, and its code is kept", async () => {
  const { code, stdout } = await ebb([...run, "sh", "-c", "echo text; exec >&- 2>&-; sleep 0.1; exit 4"]);
  expect({ code, stdout }).toEqual({ code: 4, stdout: "text\n" });
});
