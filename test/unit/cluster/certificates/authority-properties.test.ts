import { afterEach, expect, setSystemTime, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { AUTHORITY_MS } from "../../../../src/cluster/certificates/core/rotation.ts";
import { KEYS, readAuthorities } from "../../../../src/cluster/certificates/held.ts";
import { issueAuthority } from "../../../../src/cluster/certificates/issue.ts";
import type { FakeApi } from "../fake-api.ts";
import {
  apply,
  createWorld,
  DAY,
  HOUR,
  heldOf,
  look,
  MINUTE,
  plant,
  restart,
  SECRET,
  secretOf,
  type World,
} from "./authority-world.ts";

afterEach(() => void setSystemTime());

// Each history is a list of events: time passes, a replica restarts, a replica's watches hang for some minutes, writes fail, a
// user deletes or breaks the Secret, puts another CA in its place, or wipes the caBundle. The API server trusts what it last
// heard of, some seconds late. What is served is always trusted.

type Happening =
  | { readonly kind: "time"; readonly share: number }
  | { readonly kind: "restart"; readonly who: 0 | 1 }
  | { readonly kind: "hang"; readonly secret: boolean; readonly configuration: boolean }
  | { readonly kind: "fault"; readonly next: FakeApi["next"] }
  | { readonly kind: "deleted" }
  | { readonly kind: "broken"; readonly key: string }
  | { readonly kind: "planted"; readonly days: number }
  | { readonly kind: "wiped" };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("time" as const), share: fc.double({ min: 0, max: 0.4, noNaN: true }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("restart" as const), who: fc.constantFrom(0 as const, 1 as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("hang" as const),
      secret: fc.boolean(),
      configuration: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      next: fc.constantFrom("fails" as const, "is lost on the way back" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "deleted" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("broken" as const), key: fc.constantFrom(...Object.values(KEYS)) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("planted" as const),
      days: fc.double({ min: 0.05, max: 20, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "wiped" as const }) },
);

/** Some of them at the same instant; but if all that tells of a CA goes at once, a replica that starts cannot know it. */
const instant = fc
  .array(happening, { minLength: 1, maxLength: 3 })
  .filter((all) => !all.some(({ kind }) => kind === "wiped") || all.every(({ kind }) => !tells.includes(kind)));

const tells: readonly string[] = ["restart", "planted", "broken", "deleted"];

const API_SERVER_LATE_MS = 9000;

/** The longest that a watch hangs: it ends by itself after some minutes. */
const HANGS_MS = 12 * MINUTE;

/** Resolves with the number of certificates that were served. */
async function live(world: World, history: readonly (readonly Happening[])[]): Promise<number> {
  const all = new Set<string>();
  const check = (): void => {
    const heard = world.bundles.filter((_, index) => {
      const next = world.bundles[index + 1];
      return next === undefined || next.atMs > Date.now() - API_SERVER_LATE_MS;
    });
    for (const { served } of world.replicas) {
      const leaf = served.at(-1);
      if (leaf === undefined) continue;
      all.add(leaf.id);
      for (const { bundle } of heard) if (bundle !== "") expectTrusted(leaf.cert, bundle);
    }
  };
  const pass = async (ms: number): Promise<void> => {
    const endMs = Date.now() + ms;
    while (Date.now() < endMs) {
      const untilMs = await look(world, check);
      if (Date.now() < endMs) setSystemTime(Math.min(endMs, Math.max(untilMs, Date.now() + 5000)));
    }
  };
  await pass(HOUR);
  for (const instant of history) {
    let longestMs = 5000;
    for (const each of instant) {
      happen(world, each);
      if (each.kind === "hang") longestMs = Math.max(longestMs, HANGS_MS);
      if (each.kind === "time") longestMs = Math.max(longestMs, each.share * AUTHORITY_MS);
    }
    await pass(Math.min(longestMs, HANGS_MS));
    Object.assign(world.replicas[1].hangs, { secret: false, configuration: false });
    await pass(Math.max(0, longestMs - HANGS_MS));
  }
  return all.size;
}

function happen(world: World, each: Happening): void {
  const { api } = world;
  const secret = secretOf(world);
  if (each.kind === "restart") restart(world.replicas[each.who]);
  if (each.kind === "hang") Object.assign(world.replicas[1].hangs, each);
  if (each.kind === "fault") api.next = each.next;
  if (each.kind === "deleted") api.objects.delete(SECRET);
  if (each.kind === "broken" && secret)
    api.put(SECRET, { ...secret, data: { ...secret.data, [each.key]: "bm9uc2Vuc2U=" } });
  if (each.kind === "planted")
    plant(world, issueAuthority({ fromMs: Date.now() - MINUTE, untilMs: Date.now() + each.days * DAY }));
  if (each.kind === "wiped") apply(api, "");
}

function expectTrusted(cert: string, bundle: string): void {
  const leaf = new X509Certificate(cert);
  const isTrusted = readAuthorities(bundle).some(
    (ca) => ca.untilMs > Date.now() && leaf.verify(new X509Certificate(ca.cert).publicKey),
  );
  expect({
    isTrusted,
    isAlive: Date.parse(leaf.validTo) > Date.now() && Date.parse(leaf.validFrom) <= Date.now(),
  }).toEqual({
    isTrusted: true,
    isAlive: true,
  });
}

test("over three lives of a CA all is renewed in time, and old CAs go", async () => {
  const world = createWorld();
  const served = await live(world, Array(8).fill([{ kind: "time", share: 0.4 }]));
  expect(served).toBeGreaterThanOrEqual(2 * ((3.2 * 365) / 20));
  expect(served).toBeLessThan(2 * ((3.2 * 365) / 18 + 6));
  const made = world.lines.filter((line) => line.startsWith("created a CA"));
  expect(made.length).toBeGreaterThanOrEqual(5);
  expect(made.length).toBeLessThanOrEqual(6);
  expect(heldOf(world).authorities.length).toBeLessThanOrEqual(2);
}, 120_000);

test("at each instant what each replica serves is trusted by what the API server has heard", async () => {
  let served = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(instant, { minLength: 4, maxLength: 12 }), async (history) => {
      served += await live(createWorld(), history);
    }),
    { numRuns: 60 },
  );
  expect(served).toBeGreaterThanOrEqual(60 * 4);
}, 120_000);
