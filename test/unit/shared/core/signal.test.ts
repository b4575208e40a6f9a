import { describe, expect, test } from "bun:test";
import { constants } from "node:os";
import {
  endsCommand,
  endsWait,
  isForwarded,
  parseSignal,
  SIG,
  signalName,
  suspends,
  usualStops,
} from "../../../../src/shared/core/signal.ts";

const all = Object.entries(SIG);

test("each number from 1 to 31 has one name", () => {
  const numbers: number[] = all.map(([, number]) => number);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
});

test.each(all)("SIG%s is %d, as this system has it", (name, number) => {
  expect(constants.signals[`SIG${name}` as NodeJS.Signals]).toBe(number);
});

test.each([
  [1, "SIGHUP"],
  [15, "SIGTERM"],
  [31, "SIGSYS"],
  [40, "signal 40"],
  [0, "signal 0"],
])("signal %d is called %s", (number, name) => {
  expect(signalName(number)).toBe(name);
});

test.each(all)("%s is read by its names and by its number", (name, number) => {
  const texts = [`SIG${name}`, name, name.toLowerCase(), `sig${name.toLowerCase()}`, String(number)];
  expect(texts.map(parseSignal)).toEqual(texts.map(() => number));
});

test.each([
  ["1", 1],
  ["34", 34],
  ["64", 64],
  ["RTMIN", 34],
  ["SIGRTMIN+3", 37],
  ["rtmin+30", 64],
  ["RTMAX", 64],
  ["SIGRTMAX-2", 62],
])("%s is a signal, too", (text, number) => {
  expect(parseSignal(text)).toBe(number);
});

test.each([
  "",
  "TERM ",
  " 15",
  ..."0 65 -1 1.5 SIG SIGSIGTERM TERMINATE toString constructor RTMIN+31 RTMIN-1 RTMIN+ RTMAX+1".split(" "),
  ..."RTMAX-31 RT".split(" "),
])("%p is not a signal", (text) => {
  expect(parseSignal(text)).toBeUndefined();
});

test("TERM and INT ask an app to stop, QUIT ends a wait too, and HUP a command that has no app", () => {
  const those = (holds: (number: number) => boolean) => all.filter(([, number]) => holds(number)).map(([name]) => name);
  expect(those((number) => usualStops.includes(number)).toSorted()).toEqual(["INT", "TERM"]);
  expect(those(endsWait).toSorted()).toEqual(["INT", "QUIT", "TERM"]);
  expect(those(endsCommand).toSorted()).toEqual(["HUP", "INT", "QUIT", "TERM"]);
  expect(those(suspends).toSorted()).toEqual(["STOP", "TSTP", "TTIN", "TTOU"]);
});

describe("what is forwarded", () => {
  test("is every signal but those that cannot be caught and the one about ebb's own children, real-time ones too", () => {
    const missing = Array.from({ length: 64 }, (_, at) => at + 1).filter((signal) => !isForwarded(signal));
    expect(missing.map(signalName)).toEqual(["SIGKILL", "SIGCHLD", "SIGSTOP"]);
  });
});
