import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { backoffMs } from "../../../src/core/cluster/backoff.ts";
import { admit, type Circuit, closed, record } from "../../../src/core/cluster/circuit.ts";

const policy = { failures: 3, rest: { firstMs: 1000, longestMs: 8000 } };

/** `ok`, `fail`: one passed and this came of it. A number: so many milliseconds later, does one pass? */
type Word = "ok" | "fail" | number;

function tell(words: readonly Word[]): readonly string[] {
  let circuit: Circuit = closed;
  let now = 0;
  return words.map((word) => {
    if (typeof word !== "number") {
      circuit = record(circuit, policy, { ok: word === "ok", now, chance: 1 });
      return circuit.state;
    }
    now += word;
    const [next, admission] = admit(circuit, now);
    circuit = next;
    return admission.passes ? "passes" : `waits ${admission.waitMs ?? "for the other"}`;
  });
}

test.each<[string, readonly Word[], readonly string[]]>([
  ["it is closed at first", [0, 0], ["passes", "passes"]],
  ["a few failures do not open it", ["fail", "fail", 0], ["closed", "closed", "passes"]],
  [
    "a success forgets the failures before it",
    ["fail", "fail", "ok", "fail", "fail", 0],
    ["closed", "closed", "closed", "closed", "closed", "passes"],
  ],
  [
    "enough in a row open it",
    ["fail", "fail", "fail", 0, 400],
    ["closed", "closed", "open", "waits 1000", "waits 600"],
  ],
  [
    "after the rest one tries, and no other",
    ["fail", "fail", "fail", 1000, 0],
    ["closed", "closed", "open", "passes", "waits for the other"],
  ],
  [
    "its success closes it",
    ["fail", "fail", "fail", 1000, "ok", 0],
    ["closed", "closed", "open", "passes", "closed", "passes"],
  ],
  [
    "its failure opens it for longer",
    ["fail", "fail", "fail", 1000, "fail", 1000, 1000],
    ["closed", "closed", "open", "passes", "open", "waits 1000", "passes"],
  ],
  [
    "those that passed before count for nothing when they fail, and close it when they do not",
    ["fail", "fail", "fail", "fail", 0, "ok", 0],
    ["closed", "closed", "open", "open", "waits 1000", "closed", "passes"],
  ],
])("%s", (_, words, expected) => {
  expect(tell(words)).toEqual([...expected]);
});

test("a server that is well again is found out, however long it was not: no rest is longer than the longest", () => {
  const words = fc.array(fc.constantFrom<Word>("fail", "ok", 0, 1, 999, 1000, 9000), { maxLength: 60 });
  fc.assert(
    fc.property(words, (words) => {
      let circuit: Circuit = closed;
      let now = 0;
      for (const word of words) {
        now += typeof word === "number" ? word : 0;
        if (typeof word === "number") [circuit] = admit(circuit, now);
        else circuit = record(circuit, policy, { ok: word === "ok", now, chance: 1 });
        if (circuit.state === "open") expect(circuit.until - now).toBeLessThanOrEqual(8000);
      }
      // the one who tries comes back, well
      if (circuit.state === "half-open") circuit = record(circuit, policy, { ok: true, now, chance: 1 });
      const [, admission] = admit(circuit, now + 8000);
      expect(admission.passes).toBe(true);
    }),
  );
});

test("no more pass an open circuit than one after each rest", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500), { maxLength: 100 }), (gaps) => {
      let circuit: Circuit = { state: "open", until: 1000, opened: 1 };
      let now = 0;
      let passed = 0;
      for (const gap of gaps) {
        now += gap;
        const [next, admission] = admit(circuit, now);
        circuit = admission.passes ? record(next, policy, { ok: false, now, chance: 1 }) : next;
        passed += admission.passes ? 1 : 0;
      }
      expect(passed).toBeLessThanOrEqual(now / 1000);
    }),
  );
});

describe("a rest", () => {
  const rest = { firstMs: 1000, longestMs: 60_000 };

  test.each<[number, number, number]>([
    [0, 1, 1000],
    [0, 0, 500],
    [1, 1, 2000],
    [3, 0.5, 6000],
    [6, 1, 60_000],
    [10_000, 1, 60_000],
    [10_000, 0, 30_000],
  ])("after %d failures, with chance %d, is %d ms", (failures, chance, ms) => {
    expect(backoffMs(failures, rest, chance)).toBe(ms);
  });
});
