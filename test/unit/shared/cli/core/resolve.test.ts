import { expect, test } from "bun:test";
import { type Resolution, resolveCommand, type Surroundings } from "../../../../../src/shared/cli/core/resolve.ts";

const desk: Surroundings = {
  calledBy: "ebb",
  isProgram: (name) => name === "ls" || name === "dran",
  isContainer: () => false,
};
const pod: Surroundings = { ...desk, isContainer: () => true };
const run = (...args: string[]): Resolution => ({ kind: "command", name: "run", args, at: 0 });

test.each<[string, readonly string[], Surroundings, Resolution]>([
  ["nothing", [], desk, { kind: "help", name: undefined }],
  ["--help", ["--help"], desk, { kind: "help", name: undefined, isShort: false }],
  ["help, alone", ["help"], desk, { kind: "page", topic: undefined }],
  ["help of a command", ["help", "drain"], desk, { kind: "page", topic: "drain" }],
  ["--version", ["--version", "--json"], desk, { kind: "version", format: "--json" }],
  ["a shell's question", ["__complete", "run", ""], desk, { kind: "completion", words: ["run", ""] }],
  ["--licenses", ["--licenses"], desk, { kind: "licenses" }],
  ["a command", ["drain", "--json"], desk, { kind: "command", name: "drain", args: ["--json"], at: 1 }],
  ["flags alone", ["--drain", "5s", "--", "ls"], desk, run("--drain", "5s", "--", "ls")],
  ["a path", ["./drain"], desk, run("./drain")],
  ["a program", ["ls"], desk, run("ls")],
  ["a program whose name is almost a command's", ["dran"], desk, run("dran")],
  ["words of which the first is no program", ["nope", "-x"], desk, run("nope", "-x")],
  ["a word alone that is no program", ["nope"], desk, { kind: "unknown", word: "nope", near: undefined }],
  ["the same in a container, whose sidecars are quit", ["nope"], pod, run("nope")],
  ["the version as a word", ["version", "--json"], pod, { kind: "version", format: "--json" }],
  ["the same where it is a program", ["version"], { ...pod, isProgram: () => true }, run("version")],
  ["the version by -v alone", ["-v"], desk, { kind: "version", format: undefined }],
  ["-v before more", ["-v", "ls"], desk, run("-v", "ls")],
  ["a slip in it", ["verison"], pod, { kind: "unknown", word: "verison", near: "ebb --version" }],
  ["a flag of ebb's as a word", ["license"], desk, { kind: "unknown", word: "license", near: "ebb --licenses" }],
  ["the same as a path", ["./version"], desk, run("./version")],
  ["a command of the plugin", ["why", "web-0"], desk, { kind: "unknown", word: "why", near: "kubectl ebb why" }],
  ["the same alone", ["why"], desk, { kind: "unknown", word: "why", near: "kubectl ebb why" }],
  ["the same in a container", ["why", "web-0"], pod, run("why", "web-0")],
  ["the same where it is a program", ["why", "web-0"], { ...desk, isProgram: () => true }, run("why", "web-0")],
  ["a slip", ["drian", "-x"], pod, { kind: "unknown", word: "drian", near: "ebb drain" }],
  [
    "another tool by its name",
    ["-x"],
    { ...desk, calledBy: "scuttle" },
    { kind: "tool", name: "scuttle", args: ["-x"], at: 0 },
  ],
  ["another tool by a word", ["scuttle", "ls"], desk, { kind: "tool", name: "scuttle", args: ["ls"], at: 1 }],
  [
    "kubectl's plugin, whatever the words",
    ["drain", "web-0"],
    { ...desk, calledBy: "kubectl-ebb" },
    { kind: "plugin", completes: false, words: ["drain", "web-0"] },
  ],
  ["its version", ["--version"], { ...desk, calledBy: "kubectl-ebb" }, { kind: "version", format: undefined }],
  [
    "its completion",
    [""],
    { ...desk, calledBy: "kubectl_complete-ebb" },
    { kind: "plugin", completes: true, words: [""] },
  ],
  ["help of another tool", ["scuttle", "-h"], desk, { kind: "help", name: "scuttle", isShort: true }],
  [
    "a program of another tool's called help",
    ["scuttle", "help"],
    desk,
    { kind: "tool", name: "scuttle", args: ["help"], at: 1 },
  ],
])("%s", (_, words, place, expected) => expect(resolveCommand(words, place)).toEqual(expected));
