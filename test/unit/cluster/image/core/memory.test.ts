import { describe, expect, test } from "bun:test";
import type { Lookup } from "../../../../../src/cluster/image/core/lookup.ts";
import { createMemory, type Keys } from "../../../../../src/cluster/image/core/memory.ts";
import { unknown } from "../../../../../src/cluster/image/core/platform.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const answerOf = (word: string): Lookup => ({
  kind: "found",
  command: { entrypoint: [word], cmd: [], stopSignal: undefined },
});
const tagged = (name: string, who = ""): Keys => ({
  tag: `${name} ${who}`,
  digest: undefined,
  query: `${name} amd64 ${who}`,
  answer: (digest) => `${name}@${digest} amd64 ${who}`,
});
const byDigest = (name: string, digest: string): Keys => ({ ...tagged(name), tag: undefined, digest });
const app = tagged("app");
const said = { digest: "d1", answer: answerOf("a") };

describe("what is remembered of an image", () => {
  test.each<[string, number, Lookup | undefined]>([
    ["counts for 5 minutes", 5 * MINUTE - 1, said.answer],
    ["then the registry is to be asked again", 5 * MINUTE, undefined],
  ])("by tag: %s", (_, later, wanted) => {
    const memory = createMemory();
    memory.keep(app, said, 1000);
    expect(memory.remembered(app, 1000 + later)).toEqual(wanted as Lookup);
    expect(memory.hasTag(app)).toBe(true);
    expect(memory.ofDigest(app, "d1")).toEqual(said.answer);
  });

  test("by digest: counts for ever, also if it was asked for by a tag", () => {
    const memory = createMemory();
    memory.keep(app, said, 0);
    expect(memory.remembered(byDigest("app", "d1"), 1000 * HOUR)).toEqual(said.answer);
    expect(memory.remembered(byDigest("app", "d2"), 0)).toBeUndefined();
  });

  test("of one who asks is unknown to others", () => {
    const memory = createMemory();
    memory.keep(tagged("app", "alice"), said, 0);
    memory.fail(tagged("app", "bob"), unknown("unauthorized", "no"), 0);
    expect(memory.remembered(tagged("app", "alice"), 1)).toEqual(said.answer);
    expect(memory.remembered(tagged("app", "bob"), 1)).toEqual(unknown("unauthorized", "no"));
    expect(memory.remembered(app, 1)).toBeUndefined();
  });

  test.each<[string, number | undefined, number]>([
    ["for 30 s", undefined, 30_000],
    ["for as long as a 429 says", 120_000, 120_000],
    ["for at most 5 minutes", HOUR, 5 * MINUTE],
    ["not at all after a Retry-After of 0", 0, 0],
  ])("failures count %s", (_, retryAfterMs, ms) => {
    const memory = createMemory();
    const failure = unknown("rate-limited", "429");
    memory.fail(app, failure, 0, retryAfterMs);
    if (ms > 0) expect(memory.remembered(app, ms - 1)).toEqual(failure);
    expect(memory.remembered(app, ms)).toBeUndefined();
  });

  test.each<[string, "timeout" | "unreachable" | "rate-limited" | "unauthorized" | "not-found", number, boolean]>([
    ["an old answer serves while the registry is away", "unreachable", HOUR, true],
    ["also if it is silent", "timeout", HOUR, true],
    ["also if there were too many requests", "rate-limited", HOUR, true],
    ["for up to a day", "timeout", 24 * HOUR, false],
    ["not if the registry says that it is gone", "not-found", HOUR, false],
    ["not if the credentials are no longer right", "unauthorized", HOUR, false],
  ])("%s (%s)", (_, failure, age, serves) => {
    const memory = createMemory();
    memory.keep(app, said, 0);
    const failed = unknown(failure, "no");
    memory.fail(app, failed, age);
    expect(memory.remembered(app, age + 1)).toEqual(serves ? said.answer : failed);
  });

  test("while a registry does not answer, what counts is an old answer, then its failure", () => {
    const memory = createMemory();
    memory.keep(app, said, 0);
    const outage = unknown("timeout", "silent");
    expect(memory.remembered(app, HOUR, outage)).toEqual(said.answer);
    expect(memory.remembered(tagged("other"), HOUR, outage)).toEqual(outage);
  });

  test("a new answer ends a failure", () => {
    const memory = createMemory();
    memory.fail(app, unknown("not-found", "404"), 0);
    memory.keep(app, said, 1);
    expect(memory.remembered(app, 2)).toEqual(said.answer);
  });

  test("is bounded by its words: the one that was not asked for longest is forgotten", () => {
    const memory = createMemory();
    const isKnown = (name: string) => memory.remembered(tagged(name), 1) !== undefined;
    for (let n = 0; n < 10_000; n += 1) memory.keep(tagged(`few-${n}`), said, 0);
    expect([isKnown("few-9999"), isKnown("few-7000")]).toEqual([true, true]);
    const entrypoint = Array<string>(5000).fill("ab");
    const many: Lookup = { kind: "found", command: { entrypoint, cmd: [], stopSignal: undefined } };
    for (let n = 0; n < 49; n += 1) memory.keep(tagged(`many-${n}`), { digest: "d1", answer: many }, 0);
    expect([isKnown("few-9000"), isKnown("many-0")]).toEqual([false, true]);
    memory.keep(tagged("another"), { digest: "d1", answer: many }, 0);
    expect([isKnown("many-0"), isKnown("many-1")]).toEqual([true, false]); // the first was asked for just now
  });
});
