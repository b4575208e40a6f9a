import { expect, test } from "bun:test";
import { type Resolution, resolveCommand } from "../../../../../src/shared/cli/core/resolve.ts";

const unnamed = (reason: string): Resolution => ({ kind: "unnamed", reason });
const first = "a command comes first: write";

test.each<[string, readonly string[], string, Resolution]>([
  ["nothing", [], "ebb", { kind: "help", name: undefined }],
  ["--help", ["--help"], "ebb", { kind: "help", name: undefined, isShort: false }],
  ["help, alone", ["help"], "ebb", { kind: "page", topic: undefined }],
  ["help of a command", ["help", "drain"], "ebb", { kind: "page", topic: "drain" }],
  ["--version", ["--version", "--json"], "ebb", { kind: "version", format: "--json" }],
  ["a shell's question", ["__complete", "run", ""], "ebb", { kind: "completion", words: ["run", ""] }],
  ["--licenses", ["--licenses"], "ebb", { kind: "licenses" }],
  ["a command", ["drain", "--json"], "ebb", { kind: "command", name: "drain", args: ["--json"], at: 1 }],
  ["the version as a word", ["version", "--json"], "ebb", { kind: "version", format: "--json" }],
  ["the version by -v alone", ["-v"], "ebb", { kind: "version", format: undefined }],
  ["flags before --", ["--drain", "5s", "--", "ls"], "ebb", unnamed(`--drain: ${first} ebb run --drain ... -- CMD`)],
  ["-- alone", ["--", "ls"], "ebb", unnamed(`--: ${first} ebb run -- CMD`)],
  ["a flag before a command", ["--quiet", "status"], "ebb", unnamed(`--quiet: ${first} ebb status --quiet ...`)],
  [
    "a flag with a value, which may be secret",
    ["--header=A: b"],
    "ebb",
    unnamed(`--header: ${first} ebb run --header ... -- CMD`),
  ],
  [
    "a command that is a word of the program's",
    ["-x", "--", "drain"],
    "ebb",
    unnamed(`-x: ${first} ebb run -x ... -- CMD`),
  ],
  ["a slip in a flag of ebb's", ["--hlep"], "ebb", unnamed(`--hlep: ${first} ebb --help`)],
  ["-v before more", ["-v", "ls"], "ebb", unnamed(`-v: ${first} ebb run -v ... -- CMD`)],
  ["a path", ["./drain"], "ebb", unnamed("./drain: no such command (to run a program: ebb run -- ./drain)")],
  ["an empty word", ["", "x"], "ebb", unnamed("'': no such command (to run a program: ebb run -- '')")],
  ["a program", ["ls", "-l"], "ebb", unnamed("ls: no such command (to run a program: ebb run -- ls)")],
  [
    "a URL with a password",
    ["http://a:b@c/"],
    "ebb",
    unnamed("http://***@c/: no such command (to run a program: ebb run -- http://***@c/)"),
  ],
  [
    "a slip",
    ["drian", "-x"],
    "ebb",
    unnamed('drian: no such command; did you mean "ebb drain"? (to run a program: ebb run -- drian)'),
  ],
  [
    "a flag of ebb's as a word",
    ["license"],
    "ebb",
    unnamed('license: no such command; did you mean "ebb --licenses"? (to run a program: ebb run -- license)'),
  ],
  [
    "a command of the plugin",
    ["why", "web-0"],
    "ebb",
    unnamed('why: no such command; did you mean "kubectl ebb why"? (to run a program: ebb run -- why)'),
  ],
  ["another tool by its name", ["-x"], "scuttle", { kind: "tool", name: "scuttle", args: ["-x"], at: 0 }],
  ["another tool by a word", ["scuttle", "ls"], "ebb", { kind: "tool", name: "scuttle", args: ["ls"], at: 1 }],
  [
    "kubectl's plugin, whatever the words",
    ["drain", "web-0"],
    "kubectl-ebb",
    { kind: "plugin", completes: false, words: ["drain", "web-0"] },
  ],
  ["its version", ["--version"], "kubectl-ebb", { kind: "version", format: undefined }],
  ["its completion", [""], "kubectl_complete-ebb", { kind: "plugin", completes: true, words: [""] }],
  ["help of another tool", ["scuttle", "-h"], "ebb", { kind: "help", name: "scuttle", isShort: true }],
  [
    "a program of another tool's called help",
    ["scuttle", "help"],
    "ebb",
    { kind: "tool", name: "scuttle", args: ["help"], at: 1 },
  ],
])("%s", (_, words, calledBy, expected) => expect(resolveCommand(words, calledBy)).toEqual(expected));
