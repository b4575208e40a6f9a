import { describe, expect, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { ebbPath } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { startAtTerminal } from "./at-terminal.ts";

const run = [ebbPath, "run", "--sidecar", "none", "--quiet", "--"];
/** The same for a shell. */
const call = run.join(" ");

test.each([
  ["Ctrl-C", "\x03", 2],
  ["Ctrl-\\", "\x1c", 3],
  ["Ctrl-Z", "\x1a", 20],
])("%s reaches the child, once, and not ebb", async (_, key, signal) => {
  await using at = startAtTerminal(...run, childPath(), "record", "15");
  await at.shows("ready\n");
  at.type(key);
  await at.shows(`${signal}\n`);
  at.type(key);
  await at.shows(new RegExp(`${signal}\n(.*\n)*.*${signal}\n`));
  expect(at.screen().match(new RegExp(`^(\\^.)?${signal}$`, "gm"))).toHaveLength(2);
});

test("a child that Ctrl-C ends is exit code 130", async () => {
  await using at = startAtTerminal(...run, childPath(), "ignore");
  await at.shows("ready\n");
  at.type("\x03");
  expect(await at.exited).toBe(130);
});

test("an interactive shell under ebb has job control", async () => {
  await using at = startAtTerminal(...run, "bash", "--norc", "-i");
  await at.shows("$ ");
  at.type("sh -c 'echo $((6 * 7)); exec sleep 100'\n");
  await at.shows("42\n");
  at.type("\x1a");
  await at.shows("Stopped");
  at.type("kill %1; exit 5\n");
  at.type("exit 5\n");
  expect(await at.exited).toBe(5);
  expect(at.screen()).not.toContain("no job control");
});

describe("afterwards the terminal is", () => {
  test.each(["-echo", "raw -echo", "sane"])("as the child left it (stty %s)", async (modes) => {
    const modesAfter = async (prefix: string): Promise<string> => {
      await using at = startAtTerminal("sh", "-c", `${prefix} stty ${modes}; stty -a; echo end`);
      return (await at.shows(/speed(.*\n)*end/))[0];
    };
    expect(await modesAfter(call)).toBe(await modesAfter(""));
  });

  test("as it was when the caller had changed it before", async () => {
    await using at = startAtTerminal("sh", "-c", `stty raw -echo; ${call} true && stty -a; echo end`);
    const [modes] = await at.shows(/speed(.*\n)*end/);
    expect(modes).toMatch(/-icanon.*-echo /);
  });
});

test("with stdin from elsewhere, Ctrl-C still reaches the child", async () => {
  await using at = startAtTerminal("sh", "-c", `exec ${call} ${childPath()} record 2 </dev/null`);
  await at.shows("ready\n");
  at.type("\x03");
  await at.shows("2\n");
  expect(await at.exited).toBe(0);
});

/** What a run shows, colours and all. */
async function sentBy(env: Readonly<Record<string, string>>, ...command: readonly string[]): Promise<string> {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  await using at = startAtTerminal("env", ...assignments, ...command);
  await at.exited;
  return at.coloured();
}

test("the log at a terminal: the message stands out, its fields are dim, an error is red", async () => {
  const sent = await sentBy({}, ebbPath, "run", "--sidecar", "none", "--", "/no/such/command");
  expect(sent).toContain("ebb: \x1b[31merror:\x1b[0m the command did not start\x1b[2m reason=");
});

test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("%j: no colours", async (env) => {
  expect(await sentBy(env, ebbPath, "run", "--sidecar", "none", "--", "true")).not.toContain("\x1b");
});

test("while ebb waits for a sidecar, a line says for how long; it is gone before the app writes", async () => {
  await using sidecar = await fakeSidecar({ isReady: false });
  const flags = ["run", "--sidecar", "envoy", "--admin", sidecar.url];
  await using at = startAtTerminal(ebbPath, ...flags, "--", "sh", "-c", "echo from the app");
  await at.shows(/waiting for 1s: http:\S+\/ready: HTTP 503/);
  sidecar.isReady = true;
  expect(await at.exited).toBe(0);
  const lines = at.sent().split("\n");
  expect(lines.map((line) => line.split("\r\x1b[K").at(-1)?.trim())).toContain("from the app");
  expect(at.sent().lastIndexOf("waiting for 1s")).toBeLessThan(at.sent().indexOf("from the app"));
  expect(at.sent()).toContain("\r\x1b[K");
});
