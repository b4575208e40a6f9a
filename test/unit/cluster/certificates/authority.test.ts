import { afterEach, expect, setSystemTime, test } from "bun:test";
import { decodeSecret, KEYS, type Secret } from "../../../../src/cluster/certificates/held.ts";
import {
  apply,
  bundleOf,
  CONFIGURATION,
  configurationOf,
  createWorld,
  heldOf,
  look,
  restart,
  SECRET,
  secretOf,
  type World,
} from "./authority-world.ts";

afterEach(() => void setSystemTime());

/** The Secret as it is installed. */
const empty: Secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "certs", namespace: "ebb" } };

/** The Secret with another value, in base64. */
function withData(world: World, key: string, value: string): Secret {
  const secret = secretOf(world) as Secret;
  return { ...secret, data: { ...secret.data, [key]: value } };
}

test("two replicas make one CA, one certificate for the Service's names, and have the API server trust it", async () => {
  const world = createWorld({ names: ["10.0.0.1", "0:0:0:0:0:0:0:1", "Hook.Example"] });
  await look(world);
  const { authorities, serving, canSign } = heldOf(world);
  expect({ count: authorities.length, canSign, authority: serving?.authority }).toEqual({
    count: 1,
    canSign: true,
    authority: authorities[0]?.id,
  });
  expect(serving?.names).toEqual(["ebb.ebb.svc", "ebb.ebb.svc.cluster.local", "10.0.0.1", "::1", "hook.example"]);
  expect(bundleOf(world)).toBe(decodeSecret(secretOf(world)).ca);
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
    'created a serving certificate: {"reason":"there is none"}',
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
  expect(bundleOf(world)).toBe(decodeSecret(secretOf(world)).ca);
});

test("replicas that want certificates for different names agree on one for all, until it is due", async () => {
  const world = createWorld();
  const [a, b] = world.replicas;
  a.own = { ...world.own, names: ["a"] };
  b.own = { ...world.own, names: ["b"] };
  await look(world);
  expect(heldOf(world).serving?.names.toSorted()).toEqual(["a", "b", "ebb.ebb.svc", "ebb.ebb.svc.cluster.local"]);
  b.own = a.own;
  setSystemTime(Date.now() + 0.7 * world.own.validityMs);
  await look(world);
  expect(heldOf(world).serving?.names.toSorted()).toEqual(["a", "ebb.ebb.svc", "ebb.ebb.svc.cluster.local"]);
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
  expect(bundleOf(world)).toBe(decodeSecret(secretOf(world)).ca);
});

test("where cert-manager fills the caBundle it is left to cert-manager, and each replica says so once", async () => {
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
  expect(heldOf(world).serving).toBeDefined();
});

test("a certificate that lacks a name is replaced by one of the same CA", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  for (const replica of world.replicas) replica.own = { ...world.own, names: ["hook.example"] };
  await look(world);
  expect(heldOf(world)).toMatchObject({ authorities: [{ id: before?.id }], serving: { authority: before?.id } });
  expect(heldOf(world).serving?.names).toContain("hook.example");
});

test("a Secret that was deleted, and may not be created, is asked for; installed again, it is filled, and what was served is trusted", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  world.api.mayCreate = false;
  world.api.objects.delete(SECRET);
  await expect(look(world)).rejects.toThrow(
    "the Secret ebb/certs does not exist: apply the manifests (or helm upgrade) again",
  );
  expect(secretOf(world)).toBeUndefined();
  world.api.put(SECRET, empty);
  await look(world);
  expect(heldOf(world).canSign).toBe(true);
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
