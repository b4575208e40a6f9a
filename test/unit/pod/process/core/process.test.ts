import { describe, expect, test } from "bun:test";
import {
  endingSignals,
  hasEnded,
  type Process,
  parseStat,
  runsExecutable,
} from "../../../../../src/pod/process/core/process.ts";
import { SIG } from "../../../../../src/shared/core/signal.ts";
import { parseExecutable } from "../../../../../src/shared/sidecars/core/executable.ts";

const self = 100;
const agent: Process = {
  pid: 7,
  parent: 1,
  startTicks: 1,
  state: "S",
  exe: "/usr/local/bin/pilot-agent",
  comm: "pilot-agent",
  argv0: "/usr/local/bin/pilot-agent",
};

describe("a process is found by its executable", () => {
  test.each<[string, string, Partial<Process>, boolean]>([
    ["its name", "pilot-agent", {}, true],
    ["its path", "/usr/local/bin/pilot-agent", {}, true],
    ["a part of its name", "pilot", {}, false],
    ["another path", "/bin/pilot-agent", {}, false],
    ["a pattern", "pilot.agent", {}, false],
    ["a name in its arguments", "/usr/local/bin/pilot-agent", { exe: "/bin/sh" }, false],
    ["a name that it only shows", "pilot-agent", { exe: "/bin/sh" }, false],
    ["the name of a file that is no more", "pilot-agent", { exe: "/usr/local/bin/pilot-agent (deleted)" }, true],
    [
      "the path of a file that is no more",
      "/usr/local/bin/pilot-agent",
      { exe: "/usr/local/bin/pilot-agent (deleted)" },
      true,
    ],
  ])("%s", (_, name, seen, expected) => {
    expect(runsExecutable({ ...agent, ...seen }, name, self)).toBe(expected);
  });
});

describe("where its executable may not be read, by what it shows", () => {
  const hidden = { ...agent, exe: undefined };

  test.each<[string, string, Partial<Process>, boolean]>([
    ["its first argument's name", "pilot-agent", { comm: "x" }, true],
    ["its first argument", "/usr/local/bin/pilot-agent", { comm: "x" }, true],
    ["its name", "pilot-agent", { argv0: "x" }, true],
    ["neither", "pilot-agent", { argv0: "/bin/sh", comm: "sh" }, false],
    ["a name that may have been cut off", "cloud-sql-proxy", { argv0: "x", comm: "cloud-sql-proxy" }, false],
    ["a long name", "cloud-sql-proxy", { argv0: "cloud-sql-proxy", comm: "cloud-sql-proxy" }, true],
  ])("%s", (_, name, seen, expected) => {
    expect(runsExecutable({ ...hidden, ...seen }, name, self)).toBe(expected);
  });
});

describe("--signal-process never signals ebb itself; PID 1 and ebb's children only where their executable says so", () => {
  test.each<[string, Partial<Process>, boolean]>([
    ["ebb itself", { pid: self }, false],
    ["PID 1", { pid: 1 }, true],
    ["PID 1 by what it shows", { pid: 1, exe: undefined }, false],
    ["a child", { parent: self }, true],
    ["a child by what it shows", { parent: self, exe: undefined }, false],
  ])("%s", (_, seen, expected) => {
    expect(runsExecutable({ ...agent, ...seen }, "pilot-agent", self)).toBe(expected);
  });
});

describe("/proc/PID/stat is read", () => {
  const rest = "34816 1234 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 20";

  test.each([["sh"], ["a) S 1 (b"], ["with space"], ["a\n2 (b) S 1"], [""]])("with the name %p", (name) => {
    const stat = parseStat(`42 (${name}) R 7 42 42 ${rest}\n`);
    expect(stat).toEqual({ pid: 42, comm: name, state: "R", parent: 7, startTicks: 98_765 });
  });

  test.each(["", "42", "42 (sh", "42 (sh) R 7", ")("])("but not %p", (text) => {
    expect(parseStat(text)).toBeUndefined();
  });
});

test.each([
  ["Z", true],
  ["X", true],
  ["S", false],
  ["T", false],
])("a process in state %s has ended: %p", (state, expected) => {
  expect(hasEnded({ state })).toBe(expected);
});

describe("--signal-process takes a name or a whole path", () => {
  test.each(["pilot-agent", "/usr/local/bin/pilot-agent", "a b", "/a b/c"])("%p", (text) => {
    expect(parseExecutable(text)).toEqual({ name: text, isLastResort: false });
    expect(parseExecutable(`+${text}`)).toEqual({ name: text, isLastResort: true });
  });

  test.each(["", " ", "bin/agent", "./agent", "/", "/bin/", ".", "..", "a\nb", "+", "+."])("but not %p", (text) => {
    expect(parseExecutable(text)).toBeUndefined();
  });
});

test("a process is asked to end before it is forced", () => {
  expect(endingSignals).toEqual([SIG.INT, SIG.TERM, SIG.KILL]);
});
