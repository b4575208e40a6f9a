import { expect, test } from "bun:test";
import {
  type Held,
  type Life,
  type Plan,
  planRotation,
  type RotationPolicy,
  renewalOf,
  type Serving,
  unexpired,
} from "../../../../../src/cluster/certificates/core/rotation.ts";

const HOUR = 3_600_000;
const policy: RotationPolicy = {
  ...{ names: ["hook.ebb.svc"], settleMs: 10_000, skewMs: 300_000, retainMs: HOUR, patienceMs: 360_000 },
};
const NOW = 1000 * HOUR;

/** One whose renewal is not spread: its id begins with zeros. */
function life(id: string, fromHours: number, untilHours: number): Life {
  return { id: `00000000${id}`, fromMs: NOW + fromHours * HOUR, untilMs: NOW + untilHours * HOUR };
}

const ca = life("a", -100, 800);
const older = life("b", -700, 200);
const newer = life("c", -1, 900);
const serving = (of: Life, from: number, until: number, names = policy.names): Serving => ({
  ...life("s", from, until),
  authority: of.id,
  names,
});
const good = serving(ca, -10, 20);
const held = (changes: Partial<Held>): Held => ({ authorities: [ca], canSign: true, serving: good, ...changes });
const over = "two thirds of its life are over";

test.each<[string, Partial<Held>, trusted: number | undefined, Plan]>([
  ["all is well: until the first of both is due", {}, undefined, { kind: "keep", untilMs: NOW + 10 * HOUR }],
  [
    "nothing: both",
    { authorities: [], canSign: false, serving: undefined },
    undefined,
    { kind: "renew", authority: "there is none", serving: "there is none" },
  ],
  [
    "no key: a new CA; what is served goes on",
    { canSign: false },
    0,
    { kind: "renew", authority: "its key is missing, or another CA's", serving: undefined },
  ],
  ["deleted: a new CA", { distrusted: "deleted" }, 0, { kind: "renew", authority: "deleted", serving: undefined }],
  [
    "the CA is due",
    { authorities: [life("a", -700, 300)], serving: serving(life("a", 0, 0), -10, 20) },
    0,
    { kind: "renew", authority: over, serving: undefined },
  ],
  [
    "the CA has expired",
    { authorities: [life("a", -700, 0)], serving: serving(life("a", 0, 0), -10, 0) },
    0,
    { kind: "renew", authority: "it has expired", serving: "it has expired" },
  ],
  [
    "the CA is from the future",
    { authorities: [life("a", 1, 700)], serving: serving(life("a", 0, 0), -10, 20) },
    0,
    { kind: "renew", authority: "it is from the future", serving: undefined },
  ],
  [
    "a clock that is a little late does no harm",
    { authorities: [life("a", 0.05, 700)], serving: serving(life("a", 0, 0), 0.05, 30) },
    0,
    { kind: "keep", untilMs: NOW + 0.05 * HOUR + 29.95 * HOUR * (2 / 3) },
  ],
  [
    "no certificate, one CA, which may be trusted or not: at once",
    { serving: undefined },
    undefined,
    { kind: "renew", serving: "there is none" },
  ],
  [
    "no certificate, but older CAs are trusted: the new one first",
    { authorities: [newer, older], serving: undefined },
    undefined,
    { kind: "renew", serving: "there is none" },
  ],
  [
    "the same, with a CA that is just born",
    { authorities: [life("c", 0, 900), older], serving: undefined },
    undefined,
    { kind: "keep", untilMs: NOW + 360_000 },
  ],
  [
    "the same, trusted for long enough",
    { authorities: [life("c", 0, 900), older], serving: undefined },
    NOW - 10_000,
    { kind: "renew", serving: "there is none" },
  ],
  [
    "the certificate is due: the same CA signs at once",
    { serving: serving(ca, -20, 10) },
    undefined,
    { kind: "renew", serving: over },
  ],
  ["it has expired", { serving: serving(ca, -20, 0) }, undefined, { kind: "renew", serving: "it has expired" }],
  [
    "it is another CA's",
    { serving: serving(older, -10, 20) },
    undefined,
    { kind: "renew", serving: "its CA is not ours" },
  ],
  [
    "it lacks a name",
    { serving: serving(ca, -10, 20, ["x"]) },
    undefined,
    { kind: "renew", serving: "it is not valid for hook.ebb.svc" },
  ],
  [
    "a new CA that nobody trusts yet: wait",
    { authorities: [newer, ca] },
    undefined,
    { kind: "keep", untilMs: NOW + 20 * HOUR },
  ],
  [
    "a new CA that is trusted since just now: wait",
    { authorities: [newer, ca] },
    NOW - 9999,
    { kind: "keep", untilMs: NOW + 1 },
  ],
  [
    "a new CA that all API servers have heard of",
    { authorities: [newer, ca] },
    NOW - 10_000,
    { kind: "renew", serving: "there is a new CA" },
  ],
  [
    "a new CA, and the old certificate has expired",
    { authorities: [newer, ca], serving: serving(ca, -20, 0) },
    undefined,
    { kind: "renew", serving: "it has expired" },
  ],
  [
    "an old CA is kept for an hour",
    { authorities: [ca, older], serving: serving(ca, -0.5, 20) },
    0,
    { kind: "keep", untilMs: NOW + 0.5 * HOUR },
  ],
  ["then it goes", { authorities: [ca, older], serving: serving(ca, -1, 20) }, 0, { kind: "retire" }],
])("%s", (_, changes, trustedSinceMs, expected) => {
  expect(planRotation(held(changes), { nowMs: NOW, trustedSinceMs }, policy)).toEqual(expected);
});

test("renewal is at two thirds of a life, or up to a twentieth of it before", () => {
  const [earliest, latest] = ["ffffffff", "00000000"].map((id) => renewalOf({ id, fromMs: 0, untilMs: 300 }));
  expect(latest).toBe(200);
  expect(earliest).toBeCloseTo(185, 3);
});

test("a CA is worth trusting until it has expired by every clock", () => {
  const [gone, late] = [life("a", -1, -0.1), life("b", -1, -0.05)];
  expect(unexpired([ca, gone, late], NOW, policy)).toEqual([ca, late]);
});
