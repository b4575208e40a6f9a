import { describe, expect, test } from "bun:test";
import {
  type ChildExit,
  EXIT,
  exitCodeOf,
  exitMeanings,
  Failure,
  INPUT_EXIT,
} from "../../../../src/shared/core/exit.ts";

const everyCode = Array.from({ length: 256 }, (_, code) => code);

test("each of the child's own codes, 0 to 255, is kept as it is", () => {
  expect(everyCode.map((code) => exitCodeOf({ code }))).toEqual(everyCode);
});

test.each([
  [1, 129],
  [9, 137],
  [15, 143],
  [64, 192],
])("a child that signal %d ended is exit code %d", (signal, code) => {
  expect(exitCodeOf({ signal })).toBe(code);
});

describe("an expected exit code is reported as 0", () => {
  test.each<[string, ChildExit, readonly number[], number]>([
    ["when the child says it", { code: 143 }, [143], 0],
    ["when a signal makes it", { signal: 15 }, [143], 0],
    ["when it is one of several", { code: 3 }, [2, 3], 0],
    ["but not when it is another", { code: 4 }, [2, 3], 4],
    ["but not by the signal's number", { signal: 15 }, [15], 143],
    ["and 0 stays 0", { code: 0 }, [143], 0],
  ])("%s", (_, exit, expected, code) => {
    expect(exitCodeOf(exit, expected)).toBe(code);
  });
});

test("the exit codes are those that users match on", () => {
  expect(EXIT).toEqual({
    ok: 0,
    refused: 1,
    usage: 64,
    unavailable: 69,
    bug: 70,
    system: 71,
    notExecutable: 126,
    notFound: 127,
  });
  expect(INPUT_EXIT).toBe(65);
});

test("each of ebb's own exit codes has one meaning that is written down", () => {
  const described = exitMeanings.map(([code]) => code);
  const own = new Set([...Object.values(EXIT), INPUT_EXIT].filter((code) => code !== EXIT.ok));
  expect(described.toSorted()).toEqual(["0-255", "128+n", ...[...own].map(String)].toSorted());
  expect(exitMeanings.map(([, meaning]) => meaning)).not.toContain("");
});

test("a failure keeps its exit code, its message and its cause", () => {
  const cause = new Error("EACCES");
  const failure = new Failure(126, "cannot start app: permission denied", { cause });
  expect(failure).toBeInstanceOf(Error);
  expect(failure).toMatchObject({ exitCode: 126, message: "cannot start app: permission denied", cause });
});
