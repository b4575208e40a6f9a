import { expect, test } from "bun:test";
import type { OnVerdict } from "../../../../../src/pod/probe/prober.ts";
import { proberOfAny } from "../../../../../src/pod/probe/probers/any.ts";

/**
 * Plays an attempt of three probers, a, b and c. Words are in their order: `a: why` is a's reason, `a+` its readiness, and
 * `stop` cancels the attempt. Those before `|` come while it starts. Returns what happens.
 */
function play(text: string): string {
  const happened: string[] = [];
  const waiting = new Map<string, OnVerdict>();
  const [atOnce = [], later = []] = text.split("|").map((part) =>
    part
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean),
  );
  const tell = (word: string, done: OnVerdict) => {
    if (word.endsWith("+")) done({ ready: true });
    else done({ ready: false, reason: word.slice(word.indexOf(":") + 2) });
  };
  const probers = ["a", "b", "c"].map((name) => ({
    attempt(done: OnVerdict) {
      happened.push(`ask ${name}`);
      const word = atOnce.find((one) => one.startsWith(name));
      if (word === undefined) waiting.set(name, done);
      else tell(word, done);
      return () => void happened.push(`cancel ${name}`);
    },
  }));
  const cancel = proberOfAny(probers).attempt((verdict) => happened.push(verdict.ready ? "ready" : verdict.reason));
  for (const word of later) {
    if (word === "stop") cancel();
    else tell(word, waiting.get(word.slice(0, 1)) as OnVerdict);
  }
  return happened.join(", ");
}

test.each([
  ["is ready as soon as one is, and ends the others", "| b+", "ask a, ask b, ask c, cancel a, cancel c, ready"],
  ["ends none that has answered", "| a: no, b+", "ask a, ask b, ask c, cancel c, ready"],
  ["asks no more once one is ready at once", "b+", "ask a, ask b, cancel a, ready"],
  ["is not ready for the reasons of all, in their order", "| c: z, a: x, b: y", "ask a, ask b, ask c, x, y, z"],
  ["says the same reason once", "a: x | c: z, b: x", "ask a, ask b, ask c, x, z"],
  ["is not ready once the last says so at once", "a: x, b: x, c: x", "ask a, ask b, ask c, x"],
  ["that is cancelled ends those that have not answered", "| b: y, stop", "ask a, ask b, ask c, cancel a, cancel c"],
])("an attempt of any %s", (_, text, happened) => {
  expect(play(text)).toBe(happened);
});

test("an attempt of any is about to tell while one of them is", () => {
  const attempt = () => () => undefined;
  expect(proberOfAny([{ attempt }, { attempt, isDeciding: () => true }]).isDeciding?.()).toBe(true);
  expect(proberOfAny([{ attempt }, { attempt, isDeciding: () => false }]).isDeciding?.()).toBe(false);
});
