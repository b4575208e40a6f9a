import { afterEach, expect, setSystemTime, test } from "bun:test";
import { decodeSecret, KEYS, type Secret } from "../../../src/kube/certificates/held.ts";
import {
  apply,
  bundleOf,
  CONFIGURATION,
  configurationOf,
  createWorld,
  heldOf,
  look,
  SECRET,
  secretOf,
  type World,
} from "./authority-world.ts";

afterEach(() => void setSystemTime());

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
  expect(bundleOf(world)).toBe(decodeSecret(secretOf(world)).ca);
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
  expect(bundleOf(world)).toBe(decodeSecret(secretOf(world)).ca);
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

test("a Secret that was deleted, and may not be created, is asked for; installed again, it is filled, and what was served is trusted", async () => {
  const world = createWorld();
  await look(world);
  const [before] = heldOf(world).authorities;
  world.api.mayCreate = false;
  world.api.objects.delete(SECRET);
  await expect(look(world)).rejects.toThrow("the Secret certs does not exist: apply the manifests again");
  expect(secretOf(world)).toBeUndefined();
  world.api.put(SECRET, { apiVersion: "v1", kind: "Secret", metadata: { name: "certs", namespace: "ebb" } });
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
