import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { commands } from "../../../src/commands.ts";
import type { CompatTool } from "../../../src/compat/tool.ts";
import { compatTools } from "../../../src/compat/tools.ts";
import { describeTool, listCommands, lookOf } from "../../../src/shared/cli/core/help.ts";
import { toolNames } from "../../../src/shared/cli/core/names.ts";
import type { Environment } from "../../../src/shared/core/environment.ts";

const variables = [
  "ENVOY_ADMIN_API ENVOY_KILL_API NEVER_KILL_ENVOY ALWAYS_KILL_ENVOY START_WITHOUT_ENVOY WAIT_FOR_ENVOY_TIMEOUT",
  "QUIT_WITHOUT_ENVOY_TIMEOUT ISTIO_QUIT_API ISTIO_FALLBACK_PKILL NEVER_KILL_ISTIO NEVER_KILL_ISTIO_ON_FAILURE",
  "GENERIC_QUIT_ENDPOINTS GENERIC_QUIT_ONLY QUIT_REQUEST_TIMEOUT SCUTTLE_LOGGING LINKERD_AWAIT_DISABLED LINKERD_DISABLED",
].flatMap((line) => line.split(" "));

const values = ["", ..."true false yes 0 5s soon http://127.0.0.1:15000 http://[::1]:9901/ x,y unix:/s".split(" ")];
const words = "-- - app request wait GET stats -S -Sv -t -t5s --timeout=1s -p 4191".split(" ");
const moreWords = [
  ..."--timeout-fatal --timeout-fatal=false --uri http://h/r -stop-proxy --url -x --debug-port=15020".split(" "),
];

function translate(tool: string, args: readonly string[], env: Environment = {}) {
  return (compatTools[tool] as CompatTool).translate(args, env);
}

test("the names that main knows are those of the compatTools", () => {
  expect(Object.keys(compatTools).toSorted()).toEqual(toolNames.toSorted());
});

test.each(toolNames)("any call of %s is a call of a command of ebb, in options that this command has", (tool) => {
  const env = fc.dictionary(fc.constantFrom(...variables), fc.constantFrom(...values));
  const args = fc.array(fc.constantFrom(...words, ...moreWords), { maxLength: 6 });
  fc.assert(
    fc.property(args, env, (given, variables) => {
      const { command, args: translated, argsAt, compat } = translate(tool, given, variables);
      const flags = Object.values(commands[command]?.options ?? {}).map(({ flag }) => flag);
      for (const flag of compat.values.keys()) expect(flags).toContain(flag);
      if (argsAt === undefined) return;
      // what stands there in ebb's argv is the child's command line, which is passed on as bytes
      expect(translated[0]).toBe("--");
      expect(given.slice(argsAt + 1)).toEqual(translated.slice(1));
    }),
    { numRuns: 2000 },
  );
});

describe("the child's command line", () => {
  test.each<[string, readonly string[], readonly string[], number | undefined]>([
    ["scuttle", ["app", "-x"], ["app", "-x"], 0],
    ["scuttle", ["--", "app"], ["app"], 1],
    ["scuttle", ["app", "--", "x"], ["app", "--", "x"], 0],
    ["envoy-preflight", ["-app"], ["-app"], 0],
    ["valet", ["app", "-stop-proxy"], ["app", "-stop-proxy"], 0],
    ["linkerd-await", ["-S", "--", "app", "-x"], ["app", "-x"], 2],
    ["linkerd-await", ["app", "x"], ["app", "x"], 0],
    ["linkerd-await", ["app", "-S", "x"], ["app", "x"], undefined],
    ["linkerd-await", ["app", "--", "-x"], ["app", "-x"], undefined],
    ["linkerd-await", ["-t", "5s", "app", "x", "-S"], ["app", "x"], undefined],
  ])("of %s %j is %j", (tool, args, expected, wordsAt) => {
    const { args: translated, argsAt } = translate(tool, args);
    expect([...translated]).toEqual(["--", ...expected]);
    expect(argsAt).toBe(wordsAt === undefined ? undefined : wordsAt - 1);
  });
});

describe("linkerd-await's flags, as clap reads them", () => {
  const settingsOf = (args: readonly string[], flag: string) => {
    const { compat } = translate("linkerd-await", [...args, "--", "app"]);
    const result: unknown[] = [compat.values.get(flag)?.map(({ text }) => text), ...compat.problems];
    return result;
  };

  test.each<[readonly string[], string, readonly unknown[]]>([
    [["-t=5s"], "wait-timeout", [["5s"]]],
    [["-Svt", "5s"], "wait-timeout", [["5s"]]],
    [[], "wait-timeout", [["0"]]],
    [["--timeout-fatal=no"], "on-wait-timeout", [undefined, '--timeout-fatal: expected true or false, got "no"']],
    [["-p", "0"], "admin", [undefined, '-p: expected a port from 1 to 65535, got "0"']],
    [["--uri", "http://127.0.0.1:99/r?x"], "admin", [["http://127.0.0.1:99"]]],
    [["--uri", "http://127.0.0.1:99/r?x"], "ready-path", [["/r?x"]]],
    [["--shutdown=yes"], "admin", [undefined, '--shutdown: expected no value, got "yes"']],
    [["-Sx"], "admin", [undefined, "unknown flag -Sx; a flag of the command goes after --"]],
    [
      ["--backoff", "soon"],
      "admin",
      [undefined, '--backoff: expected a duration such as 30s, 1m30s or 500ms, got "soon"'],
    ],
  ])("%j: %s", (args, flag, expected) => {
    expect(settingsOf(args, flag)).toEqual([...expected]);
  });

  test("a value that is missing is told", () => {
    expect(translate("linkerd-await", ["app", "-t"]).compat.problems).toEqual(["-t: expected a value"]);
  });
});

test("ebb --help names all replaced tools, and each has a help of its own", () => {
  for (const tool of toolNames) {
    expect(listCommands(commands, lookOf(80))).toContain(tool);
    const { usage, about, takes } = compatTools[tool] as CompatTool;
    const help = describeTool(tool, { usage, about, takes }, lookOf(80));
    for (const word of [`usage: ${tool} ${usage}`, ...takes]) expect(help).toContain(word);
  }
});
