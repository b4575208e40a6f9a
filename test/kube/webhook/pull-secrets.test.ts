import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPullSecretReader } from "../../../src/kube/webhook/pull-secrets.ts";
import { refuse, type StandInApi, startStandInApi } from "../api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";

let server: StandInApi;
beforeEach(() => {
  server = startStandInApi();
});
afterEach(() => server[Symbol.asyncDispose]());

const TYPE = "kubernetes.io/dockerconfigjson";
const LONG_MS = 10_000;

const pathOf = (name: string, namespace = "shop") => `/api/v1/namespaces/${namespace}/secrets/${name}`;
const of = (...names: readonly string[]) => ({ namespace: "shop", names });

function put(name: string, registry: string, more: object = {}): void {
  const config = JSON.stringify({ auths: { [registry]: { username: "u", password: "p" } } });
  const data = { ".dockerconfigjson": Buffer.from(config).toString("base64") };
  server.put(pathOf(name), { kind: "Secret", metadata: { name, namespace: "shop" }, type: TYPE, data, ...more });
}

function reader(now = () => 0) {
  const log = collectLog();
  return { ...createPullSecretReader(server.api, log, now), log };
}

const registriesIn = (auths: readonly ReadonlyMap<string, unknown>[] | undefined) =>
  auths?.map((each) => [...each.keys()]);

const auths = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`r${at}`, { username: "u", password: "p" }]));
const manyRegistries = Buffer.from(JSON.stringify({ auths })).toString("base64");

describe("a Secret that a pod names", () => {
  test("gives its credentials, and is remembered for 30 s", async () => {
    put("team", "registry.example.com");
    let now = 0;
    const secrets = reader(() => now);
    expect(secrets.known(of("team"))).toBeUndefined();
    expect(registriesIn(await secrets.read(of("team"), LONG_MS))).toEqual([["registry.example.com"]]);
    put("team", "other.example.com");
    now = 29_999;
    expect(registriesIn(secrets.known(of("team")))).toEqual([["registry.example.com"]]);
    now = 30_000;
    expect(secrets.known(of("team"))).toBeUndefined();
    expect(registriesIn(await secrets.read(of("team"), LONG_MS))).toEqual([["other.example.com"]]);
    expect(server.requests).toEqual(Array(2).fill(`GET ${pathOf("team")}`));
  });

  test.each<[string, object]>([
    ["is of another type", { type: "Opaque" }],
    ["is of Docker's old type", { type: "kubernetes.io/dockercfg" }],
    ["has no such key", { data: {} }],
    ["is not JSON", { data: { ".dockerconfigjson": "bm90IGpzb24=" } }],
    ["has more than 100 registries", { data: { ".dockerconfigjson": manyRegistries } }],
    ["is longer than 96 KiB", { data: { ".dockerconfigjson": Buffer.alloc(97 * 1024, " ").toString("base64") } }],
  ])("and that %s gives none, and is not read again", async (_, more) => {
    put("team", "registry.example.com", more);
    const secrets = reader();
    expect(await secrets.read(of("team"), LONG_MS)).toEqual([]);
    expect(secrets.known(of("team"))).toEqual([]);
    expect(secrets.log.lines).toEqual([]);
  });

  test("and that is not there gives none, and is not asked for again", async () => {
    const secrets = reader();
    expect(await secrets.read(of("team"), LONG_MS)).toEqual([]);
    expect(secrets.known(of("team"))).toEqual([]);
    expect(secrets.log.lines).toEqual([]);
  });

  test("and that may not be read gives none for 5 s, and it is logged once", async () => {
    server.answer = () => refuse(403, 'cannot get resource "secrets"');
    let now = 0;
    const secrets = reader(() => now);
    expect(await secrets.read(of("team", "other"), LONG_MS)).toEqual([]);
    now = 4999;
    expect(secrets.known(of("team"))).toEqual([]);
    now = 5000;
    expect(secrets.known(of("team"))).toBeUndefined();
    expect(secrets.log.lines).toMatchObject([
      { level: "warn", message: "cannot read the Secrets of pods", fields: { reason: expect.stringContaining("403") } },
    ]);
  });
});

test("what is read in time counts, and the rest for the next one who asks", async () => {
  put("fast", "fast.example.com");
  put("slow", "slow.example.com");
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.answer = (request) => (request.url.endsWith("slow") ? promise : undefined);
  const secrets = reader();
  await secrets.read(of("fast"), LONG_MS);
  expect(registriesIn(await secrets.read(of("fast", "slow"), 10))).toEqual([["fast.example.com"]]);
  const again = secrets.read(of("slow"), LONG_MS);
  resolve(undefined);
  expect(registriesIn(await again)).toEqual([["slow.example.com"]]);
  expect(server.requests).toHaveLength(2);
});

test("at most four are read at a time", async () => {
  const names = Array.from({ length: 10 }, (_, at) => `s${at}`);
  let [now, most] = [0, 0];
  server.answer = async () => {
    now += 1;
    most = Math.max(most, now);
    await Bun.sleep(5);
    now -= 1;
    return undefined;
  };
  const secrets = reader();
  await secrets.read(of(...names), LONG_MS);
  expect([most, server.requests.length]).toEqual([4, 10]);
});

test("what is remembered is at most 4 MiB: the oldest is forgotten", async () => {
  const data = { ".dockerconfigjson": Buffer.from(`{"auths":{}}${" ".repeat(90_000)}`).toString("base64") };
  const names = Array.from({ length: 50 }, (_, at) => `s${at}`);
  for (const name of names) put(name, "registry.example.com", { data });
  const secrets = reader();
  for (const name of names) await secrets.read(of(name), LONG_MS);
  const isKnown = (name: string | undefined) => secrets.known(of(name as string)) !== undefined;
  expect([isKnown(names.at(-1)), isKnown(names[0])]).toEqual([true, false]);
  expect(names.filter(isKnown)).toHaveLength(Math.floor((4 * 1024 * 1024) / (120_016 + 1024)));
});

test("a namespace that is none gives no path", async () => {
  const secrets = reader();
  expect(await secrets.read({ namespace: "a/../b", names: ["team"] }, LONG_MS)).toEqual([]);
  expect(server.requests).toEqual([]);
});
