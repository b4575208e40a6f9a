import { afterEach, expect, setSystemTime, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import type { Secret } from "../../../../src/cluster/api/core/objects.ts";
import { KEYS } from "../../../../src/cluster/certificates/held.ts";
import { issueAuthority } from "../../../../src/cluster/certificates/issue.ts";
import {
  apply,
  bundleOf,
  CONFIGURATION,
  configurationOf,
  createWorld,
  DAY,
  HOUR,
  heldOf,
  look,
  plant,
  type Replica,
  restart,
  SECRET,
  secretOf,
  signerOf,
  type World,
} from "./authority-world.ts";

afterEach(() => void setSystemTime());

/** The Secret as it is installed. */
const empty: Secret = { metadata: { name: "ebb-certificates", namespace: "ebb" } };

/** The Secret with another value, in base64. */
function withData(world: World, key: string, value: string): Secret {
  const secret = secretOf(world) as Secret;
  return { ...secret, data: { ...secret.data, [key]: value } };
}

const bundleIn = (world: World): string =>
  heldOf(world)
    .authorities.map(({ cert }) => cert)
    .join("");

const namesOf = ({ served }: Replica) => new X509Certificate(served.at(-1)?.cert as string).subjectAltName;

test("two replicas make one CA, which the API server trusts, and each signs a certificate for its own names", async () => {
  const world = createWorld();
  const [a, b] = world.replicas;
  b.own = { ...world.own, names: ["10.0.0.1", "0:0:0:0:0:0:0:1", "Hook.Example"] };
  await look(world);
  const { authorities, key } = heldOf(world);
  expect({ count: authorities.length, canSign: key !== undefined }).toEqual({ count: 1, canSign: true });
  expect(Object.keys(secretOf(world)?.data ?? {})).toEqual(["ca.crt", "ca.key"]);
  expect(namesOf(a)).toBe("DNS:ebb.ebb.svc, DNS:ebb.ebb.svc.cluster.local");
  expect(namesOf(b)).toBe(`${namesOf(a)}, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:Hook.Example`);
  for (const replica of [a, b]) expect(signerOf(replica)).toBe(authorities[0]?.id as string);
  expect(bundleOf(world)).toBe(authorities[0]?.cert as string);
  expect(configurationOf(world)?.webhooks?.[1]?.clientConfig).toEqual({ service: { name: "other", namespace: "ebb" } });
});

test.each([
  ["an empty Secret", true],
  ["no Secret", false],
])("with %s one of two replicas that start at once writes it, and one the caBundle", async (_, isThere) => {
  const world = createWorld();
  if (isThere) world.api.put(SECRET, empty);
  await look(world);
  expect(world.lines).toEqual([
    'created a CA: {"reason":"there is none"}',
    'updated the caBundle of the webhook configuration: {"webhooks":"ebb","authorities":1}',
  ]);
});

test("a replica whose watch of the Secret hangs writes no older CA over a newer one", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  const [live, hanging] = world.replicas;
  hanging.hangs.secret = true;
  world.api.put(SECRET, withData(world, "ca.key", ""));
  await look(world);
  live.hangs.configuration = true; // and mends nothing
  await look(world);
  expect(heldOf(world).authorities).toMatchObject([{}, { id: before?.id }]);
  expect(bundleOf(world)).toBe(bundleIn(world));
});

test("a replica that comes to what is right changes nothing", async () => {
  const world = createWorld();
  await look(world);
  const before = [secretOf(world), configurationOf(world)];
  restart(world.replicas[0]);
  await look(world);
  expect([secretOf(world), configurationOf(world)]).toEqual(before);
});

test("a caBundle that somebody wiped is put back", async () => {
  const world = createWorld();
  await look(world);
  apply(world.api, "Cg==");
  await look(world);
  expect(bundleOf(world)).toBe(bundleIn(world));
});

test("a caBundle that cert-manager fills is left to cert-manager, and each replica says so once", async () => {
  const world = createWorld();
  const annotations = { "cert-manager.io/inject-ca-from": "ebb/ebb" };
  world.api.put(CONFIGURATION, { ...configurationOf(world), metadata: { name: "ebb", annotations } });
  await look(world);
  await look(world);
  expect(bundleOf(world)).toBe("");
  expect(world.lines.filter((line) => line.includes("cert-manager"))).toHaveLength(world.replicas.length);
});

test("without a webhook configuration there are certificates all the same", async () => {
  const world = createWorld();
  world.api.objects.delete(CONFIGURATION);
  await look(world);
  for (const replica of world.replicas) expect(signerOf(replica)).toBeDefined();
});

test("a Secret that was deleted, and may not be created, is asked for; installed again, it is filled, and what was served is trusted", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  world.api.mayCreate = false;
  world.api.objects.delete(SECRET);
  await expect(look(world)).rejects.toThrow(
    "the Secret ebb/ebb-certificates does not exist: apply the manifests (or helm upgrade) again",
  );
  expect(secretOf(world)).toBeUndefined();
  world.api.put(SECRET, empty);
  await look(world);
  expect(heldOf(world).key).toBeDefined();
  expect(heldOf(world).authorities).toHaveLength(2);
  expect(bundleOf(world)).toContain(before?.cert as string);
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
      world.api.put(SECRET, withData(world, "other", "a2VwdA=="));
      world.api.put(SECRET, withData(world, key, value));
      await look(world);
      expect(heldOf(world).key).toBeDefined();
      expect(bundleOf(world)).toContain(before.authorities[0]?.cert as string);
      expect(secretOf(world)?.data?.other).toBe("a2VwdA==");
    }
  },
);

test("a CA that ends soon is replaced after two thirds of its life; what it signed ends with it, and it goes an hour later", async () => {
  const world = createWorld();
  const untilMs = Date.now() + DAY;
  const old = plant(world, issueAuthority({ fromMs: Date.now(), untilMs }));
  const dueMs = await look(world);
  expect(dueMs - Date.now()).toBeGreaterThan(0.6 * DAY);
  for (const { served } of world.replicas) {
    expect(served).toMatchObject([{ untilMs, authority: { id: old } }]);
  }
  setSystemTime(dueMs);
  let signers: (string | undefined)[] = [];
  await look(world, () => {
    signers = [...signers, ...world.replicas.map(signerOf)];
  });
  const [newest] = heldOf(world).authorities;
  expect(heldOf(world).authorities).toMatchObject([{}, { id: old }]);
  expect([...new Set(signers)]).toEqual([old]); // it is trusted, but not for long enough
  setSystemTime(Date.now() + 10_000);
  await look(world);
  expect(world.replicas.map(signerOf)).toEqual([newest?.id, newest?.id]);
  expect(heldOf(world).authorities).toHaveLength(2);
  setSystemTime(Date.now() + HOUR);
  await look(world);
  expect(heldOf(world).authorities).toEqual([newest as never]);
  expect(bundleOf(world)).toBe(newest?.cert as string);
});

test("each replica renews its own certificate in time, and nothing is written for that", async () => {
  const world = createWorld();
  await look(world);
  const before = secretOf(world);
  for (let count = 1; count < 12; count += 1) {
    expect(world.replicas.map(({ served }) => served.length)).toEqual([count, count]);
    for (const { served } of world.replicas) expect(served.at(-1)?.untilMs).toBeGreaterThan(Date.now() + 29 * DAY);
    setSystemTime(Date.now() + 20.1 * DAY); // two thirds of 30 days
    await look(world);
  }
  expect(secretOf(world)).toEqual(before as Secret);
});

test("another CA in the Secret's place signs once it is trusted; what the API server trusted before stays trusted", async () => {
  const world = createWorld();
  await look(world);
  const before = heldOf(world).authorities[0]?.id;
  const planted = plant(world, issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + DAY }));
  restart(world.replicas[0]); // and knows nothing of the one before
  await look(world);
  expect(heldOf(world).authorities).toMatchObject([{ id: planted }, { id: before }]);
  expect(world.replicas.map(signerOf)).toEqual([undefined, before]);
  setSystemTime(Date.now() + 10_000);
  await look(world);
  expect(world.replicas.map(signerOf)).toEqual([planted, planted]);
});

test("a replica that starts without the webhook configuration signs with a new CA a minute later", async () => {
  const world = createWorld();
  await look(world);
  plant(world, issueAuthority({ fromMs: Date.now(), untilMs: Date.now() + DAY }));
  await look(world); // restores the CA before
  const [replica] = world.replicas;
  restart(replica);
  replica.hangs.configuration = true;
  setSystemTime(Date.now() + 2000); // so long it waits for the configuration
  const seenMs = Date.now();
  for (const [ms, signer] of [
    [0, undefined],
    [50_000, undefined],
    [60_000, heldOf(world).authorities[0]?.id],
  ] as const) {
    setSystemTime(seenMs + ms);
    await look(world);
    expect(signerOf(replica)).toBe(signer);
  }
});

test("the tls.crt and tls.key of an older ebb stay as they are, also in a Secret that is repaired", async () => {
  const world = createWorld();
  await look(world);
  const older = { "tls.crt": "b2xk", "tls.key": "a2V5" };
  world.api.put(SECRET, { ...(secretOf(world) as Secret), data: { ...older, ...secretOf(world)?.data, "ca.key": "" } });
  await look(world);
  expect(heldOf(world).authorities).toHaveLength(2);
  expect(secretOf(world)?.data).toMatchObject(older);
});
