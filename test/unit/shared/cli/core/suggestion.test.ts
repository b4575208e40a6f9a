import { expect, test } from "bun:test";
import fc from "fast-check";
import { options, pickOptions } from "../../../../../src/shared/cli/core/options.ts";
import { describeFlagOwners, nearest } from "../../../../../src/shared/cli/core/suggestion.ts";

const known = ["run", "wait", "sleep", "drain", "quit", "status", "request"];

test.each([
  ["status", "status"],
  ["statsu", "status"],
  ["sttus", "status"],
  ["statuss", "status"],
  ["stat", "status"],
  ["sta", "status"],
  ["st", undefined],
  ["STATUS", "status"],
  ["Drain", "drain"],
  ["rdain", "drain"],
  ["drani", "drain"],
  ["rnu", "run"],
  ["run2", "run"],
  ["wiat", "wait"],
  ["", undefined],
  ["r", undefined],
  ["python", undefined],
  ["sidecar", undefined],
  ["srunt", undefined],
  ["iawt", undefined],
])("%j was meant to be %p", (given, meant) => {
  expect(nearest(given, known)).toBe(meant);
});

test("two neighbours that are exchanged never hide what was meant", () => {
  const word = fc.stringMatching(/^[a-z]{4,9}$/);
  fc.assert(
    fc.property(word, fc.nat(7), (name, at) => {
      const [a, b] = [name[at], name[at + 1]];
      if (a === undefined || b === undefined) return;
      expect(nearest(`${name.slice(0, at)}${b}${a}${name.slice(at + 2)}`, [name])).toBe(name);
    }),
  );
});

test("a flag of other commands is said to be theirs, and one of nobody is not spoken of", () => {
  const commands = {
    run: { options: pickOptions("grace") },
    wait: { options: pickOptions("quiet", "detectTimeout") },
    quit: { options: pickOptions("quiet") },
    config: { options },
  };
  expect(describeFlagOwners(["grace", "nonsense", "detect-timeout", "json"], commands)).toEqual([
    "--grace belongs to ebb run and ebb config: call that, or leave the flag out",
    "--detect-timeout belongs to ebb wait and ebb config: call that, or leave the flag out",
    "--json belongs to ebb config: call that, or leave the flag out",
  ]);
  expect(describeFlagOwners(["quiet"], commands)).toEqual([
    "--quiet belongs to ebb wait, ebb quit and ebb config: call that, or leave the flag out",
  ]);
});
