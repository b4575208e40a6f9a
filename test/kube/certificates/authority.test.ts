import { afterEach, expect, setSystemTime, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import { lookAround } from "../../../src/kube/certificates/authority.ts";
import type { AuthorityState } from "../../../src/kube/certificates/authority-state.ts";
import { CONFIGURATIONS, type WebhookConfiguration } from "../../../src/kube/certificates/ca-bundle.ts";
import { KEYS, readAuthorities, readSecret, type Secret, textOf } from "../../../src/kube/certificates/held.ts";
import type { OwnCertificates } from "../../../src/kube/certificates/own-certificates.ts";
import { createFakeApi, type FakeApi } from "../fake-api.ts";

// The leader's rounds against an API server in memory, with a clock that the test turns.

const SECRET = "/api/v1/namespaces/ebb/secrets/certs";
const CONFIGURATION = `${CONFIGURATIONS}/ebb`;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse("2030-01-01T00:00:00Z");

afterEach(() => void setSystemTime());

interface World {
  readonly api: FakeApi;
  readonly own: OwnCertificates;
  readonly log: Parameters<typeof lookAround>[1]["log"];
  readonly lines: string[];
  leader: AuthorityState;
  /** The bundles that the API server has had, since when. */
  readonly bundles: { readonly atMs: number; readonly bundle: string }[];
}

function createWorld(settings: Partial<OwnCertificates> = {}): World {
  setSystemTime(START);
  const api = createFakeApi();
  const own: OwnCertificates = {
    ...{ api, namespace: "ebb", secret: "certs", lease: "ebb", service: "ebb", webhooks: "ebb", identity: "a" },
    ...{ validityMs: 10 * HOUR, authorityValidityMs: 100 * HOUR },
    ...settings,
  };
  const lines: string[] = [];
  const line = (fields: object, message: string): void => void lines.push(`${message}: ${JSON.stringify(fields)}`);
  const log = { debug: line, info: line, warn: line, error: line, isDebug: false, flush: () => undefined };
  apply(api, "");
  return { api, own, log, lines, leader: { sinceMs: START }, bundles: [{ atMs: START, bundle: "" }] };
}

/** `kubectl apply` of the manifest, with what it has as caBundle. */
function apply(api: FakeApi, caBundle: string): void {
  const service = { name: "ebb", namespace: "ebb" };
  const webhooks = [
    { name: "pods.ebb.dev", clientConfig: { service, caBundle } },
    { name: "others.example", clientConfig: { service: { name: "other", namespace: "ebb" } } },
  ];
  api.put(CONFIGURATION, { metadata: { name: "ebb" }, webhooks });
}

const secretOf = ({ api }: World) => api.objects.get(SECRET) as Secret | undefined;
const configurationOf = ({ api }: World) => api.objects.get(CONFIGURATION) as WebhookConfiguration | undefined;
const bundleOf = (world: World): string =>
  Buffer.from(configurationOf(world)?.webhooks?.[0]?.clientConfig.caBundle ?? "", "base64").toString();
const heldOf = (world: World) => readSecret(secretOf(world));

/** What the leader does until it has nothing more to do; when it has to look again. Its watch is as fast as can be. */
async function look(world: World): Promise<number> {
  for (let round = 0; ; round++) {
    expect(round).toBeLessThan(20); // else it never comes to rest
    world.leader.secret = { now: secretOf(world) };
    world.leader.configuration = { now: configurationOf(world) };
    try {
      const untilMs = await lookAround(world.own, {
        known: world.leader,
        log: world.log,
        signal: AbortSignal.timeout(60_000),
      });
      note(world);
      if (untilMs > Date.now() + 1000) return untilMs;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      note(world);
    }
    setSystemTime(Date.now() + 1000);
  }
}

function note(world: World): void {
  const bundle = bundleOf(world);
  if (world.bundles.at(-1)?.bundle !== bundle) world.bundles.push({ atMs: Date.now(), bundle });
}

test("the first leader makes a CA, a certificate for the Service's names, and has the API server trust it", async () => {
  const world = createWorld({ names: ["10.0.0.1", "0:0:0:0:0:0:0:1", "Hook.Example"] });
  await look(world);
  const { authorities, serving, canSign } = heldOf(world);
  expect({ count: authorities.length, canSign, authority: serving?.authority }).toEqual({
    count: 1,
    canSign: true,
    authority: authorities[0]?.id,
  });
  expect(serving?.names).toEqual(["ebb.ebb.svc", "ebb.ebb.svc.cluster.local", "10.0.0.1", "::1", "hook.example"]);
  expect(bundleOf(world)).toBe(textOf(secretOf(world)).ca);
  expect(configurationOf(world)?.webhooks?.[1]?.clientConfig).toEqual({ service: { name: "other", namespace: "ebb" } });
});

test("a leader that comes to what is right changes nothing", async () => {
  const world = createWorld();
  await look(world);
  const before = [secretOf(world), configurationOf(world)];
  world.leader = { sinceMs: Date.now() };
  await look(world);
  expect([secretOf(world), configurationOf(world)]).toEqual(before);
});

test("a caBundle that somebody wiped is put back", async () => {
  const world = createWorld();
  await look(world);
  apply(world.api, "Cg==");
  await look(world);
  expect(bundleOf(world)).toBe(textOf(secretOf(world)).ca);
});

test("where cert-manager fills the caBundle it is left to cert-manager, and that is said once", async () => {
  const world = createWorld();
  const annotations = { "cert-manager.io/inject-ca-from": "ebb/ebb" };
  world.api.put(CONFIGURATION, { ...configurationOf(world), metadata: { name: "ebb", annotations } });
  await look(world);
  await look(world);
  expect(bundleOf(world)).toBe("");
  expect(world.lines.filter((line) => line.includes("cert-manager"))).toHaveLength(1);
});

test("without a webhook configuration there are certificates all the same", async () => {
  const world = createWorld();
  world.api.objects.delete(CONFIGURATION);
  await look(world);
  expect(heldOf(world).serving).toBeDefined();
});

test("a certificate that lacks a name is replaced by one of the same CA", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  const more: World = { ...world, own: { ...world.own, names: ["hook.example"] } };
  await look(more);
  expect(heldOf(more)).toMatchObject({ authorities: [{ id: before?.id }], serving: { authority: before?.id } });
  expect(heldOf(more).serving?.names).toContain("hook.example");
});

test.each(Object.values(KEYS))(
  "a Secret whose %s is broken is repaired, with what was served still trusted",
  async (key) => {
    for (const value of [
      "",
      "bm9uc2Vuc2U=",
      "!!!",
      Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").toString("base64"),
    ]) {
      const world = createWorld();
      await look(world);
      const before = heldOf(world);
      const secret = secretOf(world) as Secret;
      world.api.put(SECRET, { ...secret, data: { ...secret.data, [key]: value, other: "a2VwdA==" } });
      await look(world);
      const after = heldOf(world);
      expect({ canSign: after.canSign, isServable: after.serving?.authority !== undefined }).toEqual({
        canSign: true,
        isServable: true,
      });
      expect(bundleOf(world)).toContain(before.authorities[0]?.cert as string);
      expect(secretOf(world)?.data?.other).toBe("a2VwdA==");
    }
  },
);

// Any history: time passes, leaders change with all that they knew, writes fail, the Secret is deleted or broken, the caBundle
// wiped. Three replicas serve what they last saw in the Secret, some minutes late; the API server trusts what it last heard of,
// some seconds late. What is served is always trusted.

type Happening =
  | { readonly kind: "time"; readonly share: number }
  | { readonly kind: "leader" }
  | { readonly kind: "fault"; readonly next: FakeApi["next"] }
  | { readonly kind: "deleted" }
  | { readonly kind: "broken"; readonly key: string }
  | { readonly kind: "wiped" };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("time" as const), share: fc.double({ min: 0, max: 0.4, noNaN: true }) }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "leader" as const }) },
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
  .filter((all) => !["wiped", "leader"].every((kind) => all.some((each) => each.kind === kind)));

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
    const heard = (lateMs: number) => world.bundles.findLast(({ atMs }) => atMs <= Date.now() - lateMs)?.bundle ?? "";
    for (const lateMs of REPLICAS_LATE_MS) {
      const served = published.findLast(({ atMs }) => atMs <= Date.now() - lateMs);
      if (served === undefined) continue;
      for (const bundle of [heard(0), heard(API_SERVER_LATE_MS)]) if (bundle !== "") expectTrusted(served.cert, bundle);
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
  if (each.kind === "leader") world.leader = { sinceMs: Date.now() };
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
  const made = world.lines.filter((line) => line.startsWith("made a CA"));
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
    { numRuns: 15 },
  );
  expect(changes).toBeGreaterThanOrEqual(15);
}, 120_000);
