import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, inParallel, runChild, temporaryFolder } from "../../harness/ebb.ts";

const plain = ["run", "--sidecar", "none", "--quiet", "--"];

test("the log of a child's end names its signal, so that 137 the code and 137 the signal can be told apart", async () => {
  const app = runChild(["die", "9"], ["--log-level", "info"]).filter((word) => word !== "--quiet");
  const { log } = await ebb(app);
  expect(log.at(-1)).toMatchObject({ msg: "ebb: done", signal: "SIGKILL", exitCode: 137 });
});

test.each([
  ["a path that does not exist", "/no/such/command"],
  ["a name that is nowhere in PATH", "no-such-command-anywhere"],
  ["a path through a file", "/etc/passwd/command"],
  ["an empty name", ""],
])("%s is exit code 127", async (_, name) => {
  const { code, stderr } = await ebb([...plain, name]);
  expect(code).toBe(127);
  expect(stderr).toContain(`"msg":"ebb: the command did not start","reason":"cannot start ${name || "''"}: `);
});

test.each([
  ["a folder", (folder: string) => folder],
  ["a file that is not executable", (folder: string) => write(join(folder, "data"), "x", 0o644)],
  ["a script whose interpreter is a folder", (folder: string) => write(join(folder, "script"), `#!${folder}\n`, 0o755)],
  ["a symbolic link to itself", (folder: string) => write(join(folder, "loop"), undefined, 0)],
])("%s is exit code 126", async (_, make) => {
  using folder = temporaryFolder();
  const { code, stderr } = await ebb([...plain, make(folder.path)]);
  expect({ code, stderr }).toMatchObject({ code: 126, stderr: expect.stringContaining(folder.path) });
});

test.each(["run", "wait"])("ebb %s runs a script without #! by /bin/sh, with its arguments", async (command) => {
  using folder = temporaryFolder();
  const script = write(join(folder.path, "script"), 'echo "$0 $# $2"; exit 9\n', 0o755);
  const { code, stdout } = await ebb([command, "--sidecar", "none", "--quiet", "--", script, "a", "b c"]);
  expect({ code, stdout }).toEqual({ code: 9, stdout: `${script} 2 b c\n` });
});

test.each(["run", "wait"])("ebb %s finds a script without #! in PATH", async (command) => {
  using folder = temporaryFolder();
  const script = write(join(folder.path, "plain-script"), 'echo "$0 $1"\n', 0o755);
  const call = [command, "--sidecar", "none", "--quiet", "--", "plain-script", "a"];
  const { code, stdout } = await ebb(call, { env: { PATH: `/nowhere:${folder.path}` } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${script} a\n` });
});

test("a command is found in PATH as execvp does it: a file that may not be executed does not hide a later one", async () => {
  using folder = temporaryFolder();
  write(join(folder.path, "sh"), "x", 0o644);
  const env = { PATH: `${folder.path}:/bin:/usr/bin` };
  expect((await ebb([...plain, "sh", "-c", "exit 3"], { env })).code).toBe(3);
});

test("--expect-exit takes the end by any signal as 0", async () => {
  const signals = [1, 9, 11, 15, 32, 34, 64];
  const flags = ["--expect-exit", signals.map((signal) => 128 + signal).join(",")];
  const ended = await inParallel(signals, (signal) => ebb(runChild(["die", String(signal)], flags)));
  expect(ended.map(({ code }) => code)).toEqual(signals.map(() => 0));
});

/** A symbolic link to itself where there is no text. */
function write(path: string, text: string | undefined, mode: number): string {
  if (text === undefined) {
    Bun.spawnSync(["ln", "-s", path, path]);
    return path;
  }
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}
