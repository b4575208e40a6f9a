import { expect, test } from "bun:test";
import { commands } from "../../../../../src/commands.ts";
import { complete } from "../../../../../src/shared/cli/core/completion.ts";

// What each shell makes of the answers: test/binary/commands/completion.test.ts.

test.each<[readonly string[], string]>([
  [
    [],
    "words run wait sleep drain hold quit request status install inject image webhook reaper manifests doctor timeline config completion help",
  ],
  [["co"], "words config completion"],
  [["--vers"], "words --version"],
  [["run", "--quit-on", ""], "words always success never"],
  [["run", "--quit-on=al"], "words --quit-on=always"],
  [["run", "--quit-on", "="], "words always success never"],
  [["run", "--quit-on", "=", "al"], "words always"],
  [["run", "--quiet", "=", "tr"], "words"],
  [["run", "--quiet", "=", "true", "--quit-o"], "words --quit-on"],
  [["run", "--grace", "=", "5s", "ca"], "child 5"],
  [["quit", "--sidecar", "istio,v"], "list istio,vault-agent"],
  [["quit", "--sidecar=istio,v"], "list --sidecar=istio,vault-agent"],
  [["run", "--termination-log", "x"], "files"],
  [["run", "--termination-log=x"], "files"],
  [["install", "x"], "files"],
  [["run", ""], "child 2"],
  [["run", "cat", "--quit-o"], "child 2"],
  [["--quiet", "cat", "x"], "words"],
  [["wait", "tcp://db:1", "--", "cat", ""], "child 4"],
  [["wait", "tcp://db:1", ""], "words"],
  [["--licenses", ""], "words"],
  [["constructor", ""], "words"],
  [["--qui"], "words"],
  [["--h"], "words --help"],
])("%j: %s", (words, answer) => {
  const [kind, ...candidates] = complete(words, commands).trimEnd().split("\n");
  expect([kind, ...candidates.map((line) => line.split("\t")[0])].join(" ")).toBe(answer);
});

test("a candidate has its help behind a tab", () => {
  expect(complete(["sl"], commands)).toBe(`words\nsleep\t${commands.sleep?.summary}\n`);
});
