import { expect, test } from "bun:test";
import {
  isExpired,
  type KnownCertificates,
  type Life,
  planCertificates,
  type RotationStep,
  renewalOf,
} from "../../../../../src/cluster/certificates/core/rotation.ts";

const HOUR = 3_600_000;
const NOW = 1000 * HOUR;

/** One whose renewal is not spread: its id begins with zeros. */
function life(id: string, fromHours: number, untilHours: number): Life {
  return { id: `00000000${id}`, fromMs: NOW + fromHours * HOUR, untilMs: NOW + untilHours * HOUR };
}

const ca = life("a", -100, 800);
const older = life("b", -700, 200);
const newer = life("c", -1, 900);
const leafOf = ({ id }: Life, from: number, until: number) => ({ ...life("leaf", from, until), authority: id });
const known: KnownCertificates = {
  ...{ nowMs: NOW, authorities: [ca], canSign: true, seenMs: NOW - HOUR, trustedMs: NOW - HOUR, lost: [] },
  leaf: leafOf(ca, -10, 20),
};
const keep = (hours: number): RotationStep => ({ kind: "keep", untilMs: NOW + hours * HOUR });
const renew = (why: string): RotationStep => ({ kind: "renew", why });
const sign: RotationStep = { kind: "sign" };
const [minute, second] = [1 / 60, 1 / 3600];
const at = (hours: number): number => NOW + hours * HOUR;
const over = "two thirds of its life are over";

// biome-ignore format: a table
test.each<[string, Partial<KnownCertificates>, RotationStep]>([
  ["all is well: until the first of both is due", {}, keep(10)],
  ["no CA", { authorities: [], canSign: false, leaf: undefined }, renew("there is none")],
  ["no key", { canSign: false }, renew("its key is missing, or another CA's")],
  ["the CA is due", { authorities: [older], leaf: leafOf(older, -10, 20) }, renew(over)],
  ["the same, but nothing is served: that first", { authorities: [older], leaf: undefined }, sign],
  ["the CA has expired", { authorities: [life("a", -700, 0)] }, renew("it has expired")],
  ["the same, and nothing is served", { authorities: [life("a", -700, 0)], leaf: undefined }, renew("it has expired")],
  ["the CA is from the future", { authorities: [life("a", 1, 700)], leaf: undefined }, renew("it is from the future")],
  ["a clock that is a little late does no harm", { authorities: [life("a", 0.05, 700)], leaf: undefined }, sign],

  ["nothing is served, and there is one CA, which may be trusted or not", { trustedMs: undefined, leaf: undefined }, sign],
  ["the same, but the API server trusts another", { trustedMs: undefined, seenMs: NOW, leaf: undefined, lost: [newer] }, { kind: "restore" }],
  ["a new CA, trusted since just now: wait", { authorities: [newer, ca], trustedMs: at(-9 * second), seenMs: NOW, leaf: undefined }, keep(second)],
  ["a new CA, trusted for long enough", { authorities: [newer, ca], trustedMs: at(-10 * second), leaf: undefined }, sign],
  ["a new CA that nobody trusts: wait a minute", { authorities: [newer, ca], trustedMs: undefined, seenMs: NOW, leaf: undefined }, keep(minute)],
  ["the same, a minute later", { authorities: [newer, ca], trustedMs: undefined, seenMs: at(-minute), leaf: undefined }, sign],

  ["what is served is due", { leaf: leafOf(ca, -20, 10) }, sign],
  ["it ends with its CA: another one would do so, too", { authorities: [life("a", -1, 20)], leaf: leafOf(ca, -20, 20) }, keep(13)],
  ["it has expired", { leaf: leafOf(ca, -20, 0) }, sign],
  ["there is a new CA that nobody trusts yet: until it ends", { authorities: [newer, ca], trustedMs: undefined }, keep(20)],
  ["the same, and it has expired", { authorities: [newer, ca], trustedMs: undefined, seenMs: at(-minute), leaf: leafOf(ca, -20, 0) }, sign],
  ["there is a new CA, trusted since just now: wait", { authorities: [newer, ca], trustedMs: at(-9 * second) }, keep(second)],
  ["there is a new CA that all API servers have heard of", { authorities: [newer, ca], trustedMs: at(-10 * second) }, sign],

  ["another CA is in the place of the one that signed", { authorities: [newer], lost: [ca], trustedMs: undefined }, { kind: "restore" }],
  ["the same, trusted since just now", { authorities: [newer], lost: [ca], trustedMs: at(-9 * second) }, { kind: "restore" }],
  ["the caBundle has one too many", { lost: [older] }, keep(10)],

  ["an old CA is kept for an hour", { authorities: [ca, older], trustedMs: at(-0.5) }, keep(0.5)],
  ["then it goes", { authorities: [ca, older] }, { kind: "retire" }],
  ["it stays if nobody trusts the new one", { authorities: [ca, older], trustedMs: undefined }, keep(10)],
])("%s", (_, changes, expected) => {
  expect(planCertificates({ ...known, ...changes })).toEqual(expected);
});

test("renewal is at two thirds of a life, or up to a twentieth of it before", () => {
  const [earliest, latest] = ["ffffffff", "00000000"].map((id) => renewalOf({ id, fromMs: 0, untilMs: 300 }));
  expect(latest).toBe(200);
  expect(earliest).toBeCloseTo(185, 3);
});

test("a CA is worth trusting until it has expired by every clock", () => {
  expect([life("a", -1, -0.1), life("b", -1, -0.05)].map((each) => isExpired(each, NOW))).toEqual([true, false]);
});
