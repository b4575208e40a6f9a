import { expect, test } from "bun:test";
import { defaultOf, describeCommand, flagOf, overview } from "../../src/core/help.ts";
import { options, pickOptions } from "../../src/core/options.ts";

test("a command's help lists its flags, with what they take, their defaults, and which may be given again", () => {
  const help = describeCommand("run", { usage: "run [flags]", options: pickOptions("waitTimeout", "quit", "group") });
  expect(help).toBe(`usage: ebb run [flags]

flags of ebb run:
  --quit [+][METHOD ]URL  what to request at the end, instead of the sidecar's own quit (with +: besides it) (default: by sidecar); repeatable
  --wait-timeout D        how long to wait until all are ready; 0: for ever (default: 5m)
  --group                 forward signals to the command's whole process group
`);
});

test("the overview lists each command and each exit code", () => {
  const help = overview({ run: { summary: "does the job" }, quit: { summary: "ends it" } });
  expect(help).toContain("  run   does the job\n  quit  ends it\n");
  expect(help).toMatch(/^ {2}127 +the command was not found$/m);
  expect(help).toMatch(/^ {2}0-255 +the child's own exit code, unchanged$/m);
});

test.each([
  ["sidecar", "--sidecar NAME[,NAME]", "auto"],
  ["waitTimeout", "--wait-timeout D", "5m"],
  ["quitTimeout", "--quit-timeout D", "5s"],
  ["detect", "--detect D", "3s"],
  ["quitOn", "--quit-on always|success|never", "always"],
  ["grace", "--grace D", ""],
  ["noWait", "--no-wait", ""],
  ["expectExit", "--expect-exit CODE[,CODE]", "none"],
  ["terminationLog", "--termination-log PATH", "/dev/termination-log if it exists"],
] as const)("%s is written %s, with the default %p", (name, flag, initial) => {
  expect([flagOf(options[name]), defaultOf(options[name])]).toEqual([flag, initial]);
});
