import { expect, test } from "bun:test";
import { completionOf, nameLines } from "../../../../../src/cluster/kubectl/core/completion.ts";
import { podCommands } from "../../../../../src/cluster/kubectl/core/pod-commands.ts";
import { reaperOptions } from "../../../../../src/cluster/reaper/core/reaper-options.ts";

// What the commands of ebb itself propose: test/binary/commands/completion.test.ts.

const reap = { summary: "reap", options: reaperOptions };
const inject = { summary: "inject", options: {}, operands: "files" } as const;
const commands = { ...podCommands, reap, inject };
const ask = (...words: readonly string[]) => completionOf(words, commands);
const nowhere = { namespace: undefined, kubeconfig: undefined, context: undefined };

test.each<[readonly string[], string]>([
  [["w"], "why\texplain why a pod is stuck and what ends it; --end ends it\n:4\n"],
  [["--v"], "--version\tprint the version\n:4\n"],
  [["nope", ""], ":4\n"],
  [["nope", "--x"], ":4\n"],
  [["status", "-o", "j"], "json\n:4\n"],
  [["why", "-oj"], ":4\n"],
  [["why", "pod-1", ""], ":4\n"],
  [["why", "--help", ""], ":4\n"],
  [["reap", ""], ":4\n"],
  [["inject", ""], ":0\n"],
  [["why", "--end", "--image-pull-policy=N"], "--image-pull-policy=Never\n:4\n"],
])("%j: %j", (words, text) => expect(ask(...words)).toEqual({ kind: "lines", text }));

test.each<[readonly string[], object]>([
  [["why", ""], { kind: "pods", typed: "", prefix: "" }],
  [["why", "--end", "pod/we"], { kind: "pods", typed: "we", prefix: "pod/" }],
  [["why", "-n", "shop", "w"], { kind: "pods", typed: "w", prefix: "", namespace: "shop" }],
  [["why", "-nshop", "--context", "x", "w"], { kind: "pods", typed: "w", prefix: "", namespace: "shop", context: "x" }],
  [["why", "--kubeconfig=/k", ""], { kind: "pods", typed: "", prefix: "", kubeconfig: "/k" }],
  [["status", "-n", "sh"], { kind: "namespaces", typed: "sh", prefix: "" }],
  [["status", "--namespace=sh"], { kind: "namespaces", typed: "sh", prefix: "--namespace=" }],
  [["reap", "--namespace", "a,sh"], { kind: "namespaces", typed: "sh", prefix: "a," }],
  [["reap", "--context", ""], { kind: "contexts", typed: "", prefix: "" }],
])("%j asks the cluster for %j", (words, asked) => expect(ask(...words)).toEqual({ ...nowhere, ...asked } as never));

test("names are sorted, and those that do not begin with what is typed are left out", () => {
  expect(nameLines(["b-2", "a", "b-1"], "b", "pod/")).toBe("pod/b-1\npod/b-2\n:4\n");
});
