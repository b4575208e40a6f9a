import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { childPath, compiled } from "../../harness/compiled.ts";
import { ebbPath, temporaryFolder } from "../../harness/ebb.ts";
import { type AtTerminal, startAtTerminal } from "./at-terminal.ts";

// An interactive shell, a terminal, and ebb as a job. What is typed is echoed, so that what is expected is written with
// quotes in it: `echo o''ver`.

const run = [ebbPath, "run", "--sidecar", "none", "--quiet", "--"];
const call = run.join(" ");
const child = childPath();
const patientCat = `(trap "" INT QUIT; exec cat)`;

async function startShell(): Promise<AtTerminal> {
  const at = startAtTerminal("bash", "--norc", "--noediting", "-i");
  await at.shows("$ ");
  return at;
}

/** Ends the job in the foreground, and then the shell. */
async function leave(at: AtTerminal, key = "\x03"): Promise<void> {
  at.type(key);
  await at.shows(/\$ $/);
  at.type("echo o''ver; exit 5\n");
  await at.shows("\nover\n");
  expect(await at.exited).toBe(5);
}

function times(at: AtTerminal, text: string): number {
  return at.screen().split(text).length - 1;
}

describe("Ctrl-Z", () => {
  test("and fg, again and again: the job stops and goes on, and its child is continued once", async () => {
    await using at = await startShell();
    at.type(`${call} bash -c 'trap "echo con""tinued" CONT; echo re""ady; while read line; do :; done'\n`);
    await at.shows("ready\n");
    for (const time of [1, 2, 3]) {
      at.type("\x1a");
      await at.shows(new RegExp(`(Stopped(?:.|\\n)*){${time}}\\$ $`));
      at.type("fg\n");
      await at.shows(new RegExp(`(\ncontinued\n(?:.|\\n)*){${time}}`));
    }
    await leave(at);
    expect(times(at, "\ncontinued\n")).toBe(3);
  });

  test("ebb under ebb is one job, too", async () => {
    await using at = await startShell();
    at.type(`${call} ${call} sh -c 'echo re""ady; read line; echo got $line'\n`);
    await at.shows("ready\n");
    at.type("\x1a");
    await at.shows(/Stopped(?:.|\n)*\$ $/);
    at.type("fg\n");
    await at.shows(/fg\n.*read line.*\n/);
    at.type("hello\n");
    await at.shows("got hello\n");
    await leave(at, "");
  });

  test("bg and fg: the child goes on without the terminal, and then has it again", async () => {
    await using at = await startShell();
    at.type(`${call} sh -c 'echo re""ady; read line; echo got $line'\n`);
    await at.shows("ready\n");
    at.type("\x1a");
    await at.shows(/Stopped(?:.|\n)*\$ $/);
    at.type("bg\n");
    await at.shows(/bg\n(?:.|\n)*\$ $/); // it wants to read, and so it stops
    at.type("jobs; echo li''sted\n");
    await at.shows(/listed\n/);
    at.type("fg\n");
    at.type("hello\n");
    await at.shows("got hello\n");
    await leave(at, "");
  });

  test("where there is no shell that could continue it, stops nothing, as without ebb", async () => {
    await using at = startAtTerminal(...run, "sh", "-c", "echo ready; read line; echo got $line");
    await at.shows("ready\n");
    at.type("\x1a");
    at.type("hello\n");
    await at.shows("got hello\n");
    expect(await at.exited).toBe(0);
  });
});

describe("in the background", () => {
  test("the end of the child takes the terminal from nobody", async () => {
    using folder = temporaryFolder();
    const go = join(folder.path, "go");
    spawnSync("mkfifo", [go]); // a shell that starts programs may not be stopped while it does (vfork)
    await using at = await startShell();
    at.type(`${call} sh -c 'echo re""ady; read line < ${go}; echo en""ding'\n`);
    await at.shows("ready\n");
    at.type("\x1a");
    await at.shows(/Stopped(?:.|\n)*\$ $/);
    at.type("bg\n");
    await at.shows(/bg\n(?:.|\n)*\$ $/);
    at.type(`sh -c 'echo rea""ding; read line; wait; sleep 0.1; read line; echo got $line'\n`);
    await at.shows("reading\n");
    await writeFile(go, "\n");
    await at.shows("ending\n");
    at.type("one\n");
    at.type("two\n");
    await at.shows("got two\n");
    await leave(at, "");
  });

  test("a child that reads the terminal stops, the shell sees the job stopped, and fg gives it the terminal", async () => {
    await using at = await startShell();
    at.type(`${call} sh -c 'read line; echo got $line' &\n`);
    at.type("until jobs | grep Sto''pped; do sleep 0.02; done\n");
    await at.shows(/Stopped/);
    at.type("fg\n");
    await at.shows(/fg\n(?:.|\n)*read line(?:.|\n)*\n/);
    at.type("hello\n");
    await at.shows("got hello\n");
    await leave(at, "");
  });

  test("ebb's own log stops it neither there nor beside its child (stty tostop)", async () => {
    const logging = `${ebbPath} run --sidecar none --log-level debug --`;
    await using at = await startShell();
    at.type(`stty tostop; ${logging} ${child} exit 3; echo co''de $?\n`);
    await at.shows("code 3\n");
    at.type(`${logging} ${child} exit 4 & wait $!; echo co''de $?\n`);
    await at.shows("code 4\n");
    await leave(at, "");
  });
});

describe("in a pipeline", () => {
  test("ebb's child reads the terminal, and Ctrl-C ends all", async () => {
    await using at = await startShell();
    at.type(`${call} cat | cat\n`);
    at.type("hello\n");
    await at.shows(/hello\n(?:.*\n)*hello\n/);
    await leave(at);
  });

  test("Ctrl-Z stops all of it, and fg goes on", async () => {
    await using at = await startShell();
    at.type(`${call} cat | cat\n`);
    at.type("one\n");
    await at.shows("one\none\n");
    at.type("\x1a");
    await at.shows(/Stopped(?:.|\n)*\$ $/);
    at.type("fg\n");
    await at.shows(/fg\n(?:.|\n)*cat\n/);
    at.type("two\n");
    await at.shows("two\ntwo\n");
    await leave(at);
  });

  const pagerScript = "read text; echo $text; read key < /dev/tty; echo got $key";
  const pager = `sh -c '${pagerScript}'`;

  test.each([
    ["after ebb, whose child goes on", `${call} sh -c 'echo text; exec sleep 100' | ${pager}`, "\x03"],
    ["under ebb", `echo text | ${call} ${pager}`, ""],
    [
      "under ebb with --signal-group",
      `echo text | ${ebbPath} run --sidecar none --quiet --signal-group -- ${pager}`,
      "",
    ],
  ])("a pager %s reads keys from the terminal", async (_, pipeline, key) => {
    await using at = await startShell();
    at.type(`${pipeline}\n`);
    await at.shows("\ntext\n");
    at.type("q\n");
    await at.shows("got q\n");
    await leave(at, key);
  });

  test("a pager under ebb reads keys where the shell gives ebb the terminal after ebb has given it to the pager", async () => {
    const lateShell = compiled(join(import.meta.dirname, "../../fixtures/late-shell.c"));
    await using at = startAtTerminal(lateShell, ...run.with(-1, "--signal-group"), "--", "sh", "-c", pagerScript);
    await at.shows("text\n");
    at.type("q\n");
    await at.shows("got q\n");
    expect(await at.exited).toBe(0);
  });

  test("a key reaches the child once", async () => {
    await using at = await startShell();
    at.type(`${call} ${child} record 3 | ${patientCat}\n`);
    await at.shows("ready\n");
    for (const [key, text] of [
      ["\x03", "2\n"],
      ["\x1c", "3\n"],
    ] as const) {
      at.type(key);
      await at.shows(text);
    }
    await leave(at, "");
    expect(at.screen().match(/^(\^.)?2$/gm)).toHaveLength(1);
  });
});

test.each([
  ["alone", `${run.join(" ")} ${child} record 3`],
  ["in a pipeline", `${run.join(" ")} ${child} record 3 | ${patientCat}`],
  ["with stdin from elsewhere", `${run.join(" ")} ${child} record 3 < /dev/null`],
])("a change of the terminal's size reaches the child once: %s", async (_, command) => {
  await using at = startAtTerminal("bash", "--norc", "-mc", command);
  await at.shows("ready\n");
  at.resize(100, 40);
  await at.shows("\n28\n");
  at.type("\x1c");
  await at.shows(/3\n/);
  expect(at.screen().match(/^28$/gm)).toHaveLength(1);
});

describe("the terminal is the caller's again", () => {
  test.each([
    ["when a signal has ended the child", "--quiet", `${child} die 9`],
    ["when the child cannot be started", "--quiet", "/no/such/command"],
    ["when no sidecar is quit", "--quit-on never", "true"],
    ["when the child has given it to another group, and ended", "--quiet", "bash -ic 'sleep 100 & fg & kill -9 $$'"],
  ])("%s", async (_, flags, command) => {
    const script = `${ebbPath} run --sidecar none ${flags} -- ${command}; echo do''ne; read line; echo got $line`;
    await using at = startAtTerminal("sh", "-c", script);
    await at.shows("done\n");
    at.type("hello\n");
    await at.shows("got hello\n");
    expect(await at.exited).toBe(0);
  });
});
