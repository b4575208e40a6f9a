import { afterEach, expect, setSystemTime, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { KEYS, readAuthorities } from "../../../../src/cluster/certificates/held.ts";
import type { FakeApi } from "../fake-api.ts";
import {
  apply,
  createWorld,
  HOUR,
  heldOf,
  look,
  MINUTE,
  restart,
  SECRET,
  secretOf,
  type World,
} from "./authority-world.ts";

afterEach(() => void setSystemTime());

// Each history is a list of events: time passes, a replica restarts, a replica's watches hang, writes fail, a user deletes or
// breaks the Secret, or wipes the caBundle. Replicas serve what they last saw in the Secret, some minutes late; the API server trusts what it
// last heard of, some seconds late. What is served is always trusted.

type Happening =
  | { readonly kind: "time"; readonly share: number }
  | { readonly kind: "restart"; readonly who: 0 | 1 }
  | { readonly kind: "hang"; readonly secret: boolean; readonly configuration: boolean }
  | { readonly kind: "fault"; readonly next: FakeApi["next"] }
  | { readonly kind: "deleted" }
  | { readonly kind: "broken"; readonly key: string }
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
  { weight: 1, arbitrary: fc.constant({ kind: "wiped" as const }) },
);

/** Some of them at the same instant; but if all who know the CA forget it at once, nobody can know it. */
const instant = fc
  .array(happening, { minLength: 1, maxLength: 3 })
  .filter((all) => !["wiped", "restart"].every((kind) => all.some((each) => each.kind === kind)));

const API_SERVER_LATE_MS = 9000;

const REPLICAS_LATE_MS = [0, 20_000, 30 * MINUTE];

interface Served {
  readonly cert: string;
  readonly atMs: number;
}

async function live(world: World, history: readonly (readonly Happening[])[]): Promise<number> {
  const published: Served[] = [];
  let changes = 0;
  const publish = (): void => {
    const { serving } = heldOf(world);
    if (serving?.authority === undefined || published.at(-1)?.cert === serving.cert) return;
    published.push({ cert: serving.cert, atMs: Date.now() });
    changes++;
  };
  const check = (): void => {
    const heard = world.bundles.filter((_, index) => {
      const next = world.bundles[index + 1];
      return next === undefined || next.atMs > Date.now() - API_SERVER_LATE_MS;
    });
    for (const lateMs of REPLICAS_LATE_MS) {
      const served = published.findLast(({ atMs }) => atMs <= Date.now() - lateMs);
      if (served === undefined) continue;
      for (const { bundle } of heard) if (bundle !== "") expectTrusted(served.cert, bundle);
    }
  };
  const pass = async (ms: number): Promise<void> => {
    const endMs = Date.now() + ms;
    while (Date.now() < endMs) {
      const untilMs = await look(world);
      publish();
      check();
      if (Date.now() < endMs) setSystemTime(Math.min(endMs, untilMs, Date.now() + 20 * MINUTE));
    }
  };
  await pass(HOUR);
  for (const instant of history) {
    let longestMs = 5000;
    for (const each of instant) {
      happen(world, each);
      if (each.kind === "time") longestMs = Math.max(longestMs, each.share * world.own.authorityValidityMs);
    }
    await pass(longestMs);
  }
  return changes;
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
  const changes = await live(world, Array(8).fill([{ kind: "time", share: 0.4 }]));
  expect(changes).toBeGreaterThan(320 / 10 - 5);
  expect(changes).toBeLessThan(2 * (320 / 10));
  const made = world.lines.filter((line) => line.startsWith("created a CA"));
  expect(made.length).toBeGreaterThanOrEqual(5);
  expect(made.length).toBeLessThanOrEqual(6);
  expect(heldOf(world).authorities.length).toBeLessThanOrEqual(2);
}, 120_000);

test("at each instant what each replica serves is trusted by what the API server has heard", async () => {
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(instant, { minLength: 4, maxLength: 12 }), async (history) => {
      changes += await live(createWorld(), history);
    }),
    { numRuns: 60 },
  );
  expect(changes).toBeGreaterThanOrEqual(15);
}, 120_000);
