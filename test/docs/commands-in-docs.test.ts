import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { manualPaths } from "../../build/pages.ts";
import { short } from "../../src/commands/inject.ts";
import { commands } from "../../src/commands.ts";
import { readCommandCall, readOperandCall } from "../../src/shared/cli/core/call.ts";
import { resolveCommand } from "../../src/shared/cli/core/resolve.ts";
import { expandShortFlags, kubectlShort } from "../../src/shared/cli/core/short-flags.ts";

// Each call of ebb in the README and the manual is one that ebb takes. What the calls do is run in test/binary and test/cluster.

const root = resolve(import.meta.dirname, "../..");
const pages = ["README.md", ...manualPaths()];

/** A line of commands: without its prompt and comment, each part of a pipe or list by itself; `$DIGEST` is one. */
function callsIn(line: string): readonly string[] {
  const shown = line.replace(/^ {4}(\$ )?/, "").replace(/\s+# .*$/, "");
  const command = shown.replace("$DIGEST", `sha256:${"0".repeat(64)}`);
  return command.split(/\s*(?:\||&&|;|&)\s*/).flatMap((part) => {
    const [, call] = /(?:^|-- )(?:\S*\/)?ebb ((?!:)\S.*)$/.exec(part) ?? [];
    return call === undefined ? [] : [call.replace(/\s*[<>].*$/, "")];
  });
}

function wordsOf(call: string): readonly string[] {
  return [...call.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([word, double, single]) => double ?? single ?? word);
}

const isCommand = (line: string) => /^ {4}(\$ )?(ebb|\/ebb|kubectl|kustomize|helm|skopeo) /.test(line);
const calls = pages.flatMap((page) =>
  readFileSync(join(root, page), "utf8")
    .replace(/```[\s\S]*?```/g, "")
    .split("\n")
    .filter(isCommand)
    .flatMap(callsIn)
    .map((call) => [page, call] as const),
);

test("there are many", () => {
  expect(calls.length).toBeGreaterThan(40);
});

test.each(calls)("%s: ebb %s", (_, call) => {
  const resolved = resolveCommand(wordsOf(call), "ebb");
  expect(["command", "tool", "help", "page", "version", "licenses"]).toContain(resolved.kind);
  if (resolved.kind !== "command") return;
  const { options = {} } = commands[resolved.name] ?? {};
  const read = resolved.name === "run" ? readCommandCall : readOperandCall;
  const args = expandShortFlags(resolved.args, resolved.name === "inject" ? short : kubectlShort);
  if (args.includes("--help")) return;
  expect(() => read(options, { args, env: {} })).not.toThrow();
});
