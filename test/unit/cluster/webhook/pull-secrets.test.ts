import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { PullCredentials } from "../../../../src/cluster/webhook/pod-images.ts";
import { createPullSecretReader } from "../../../../src/cluster/webhook/pull-secrets.ts";
import { until } from "../../../harness/ebb.ts";
import { never } from "../../../harness/time.ts";
import { refuse, type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
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
  return { ...createPullSecretReader(server.api, log, () => 1 + now()), log };
}

const registriesIn = (pulled: PullCredentials | undefined) => pulled?.auths.map((each) => [...each.keys()]);
/** What is said if the Secret "team" gives nothing. */
const unused = (why: string): PullCredentials => ({ auths: [], unused: [`the Secret "team" ${why}`], isLate: false });

const auths = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`r${at}`, { username: "u", password: "p" }]));
const manyRegistries = Buffer.from(JSON.stringify({ auths })).toString("base64");

describe("a Secret that a pod names", () => {
  test("gives its credentials, and is remembered for 30 s", async () => {
    put("team", "registry.example.com");
    let now = 0;
    const secrets = reader(() => now);
    expect(secrets.remembered(of("team"))).toBeUndefined();
    expect(registriesIn(await secrets.read(of("team"), LONG_MS))).toEqual([["registry.example.com"]]);
    put("team", "other.example.com");
    now = 30_000;
    expect(registriesIn(secrets.remembered(of("team")))).toEqual([["registry.example.com"]]);
    now = 30_001;
    expect(secrets.remembered(of("team"))).toBeUndefined();
    expect(registriesIn(await secrets.read(of("team"), LONG_MS))).toEqual([["other.example.com"]]);
    expect(server.requests).toEqual(Array(2).fill(`GET ${pathOf("team")}`));
  });

  test("may be of Docker's old type, as OpenShift makes them", async () => {
    const config = JSON.stringify({ "registry.example.com": { auth: btoa("u:p") } });
    const data = { ".dockercfg": Buffer.from(config).toString("base64") };
    put("team", "", { type: "kubernetes.io/dockercfg", data });
    expect(registriesIn(await reader().read(of("team"), LONG_MS))).toEqual([["registry.example.com"]]);
  });

  test.each<[string, object]>([
    [
      "is of the type Opaque: expected one of kubernetes.io/dockerconfigjson, kubernetes.io/dockercfg",
      { type: "Opaque" },
    ],
    [
      "is of the type constructor: expected one of kubernetes.io/dockerconfigjson, kubernetes.io/dockercfg",
      { type: "constructor" },
    ],
    ["is malformed: .dockerconfigjson: not JSON", { data: {} }],
    ["is malformed: .dockerconfigjson: not JSON", { data: { ".dockerconfigjson": "bm90IGpzb24=" } }],
    ["is malformed: .dockercfg: not JSON", { type: "kubernetes.io/dockercfg" }],
    ["lists 101 registries, more than 100", { data: { ".dockerconfigjson": manyRegistries } }],
    ["has more than 96 KiB", { data: { ".dockerconfigjson": Buffer.alloc(97 * 1024, " ").toString("base64") } }],
  ])("and that %s gives none, is not read again, and it is said why", async (why, more) => {
    put("team", "registry.example.com", more);
    const secrets = reader();
    expect(await secrets.read(of("team"), LONG_MS)).toEqual(unused(why));
    expect(secrets.remembered(of("team"))).toEqual(unused(why));
    expect(secrets.log.lines).toEqual([]);
  });

  test("and that is not there gives none, and is not asked for again", async () => {
    const secrets = reader();
    expect(await secrets.read(of("team"), LONG_MS)).toEqual(unused("does not exist"));
    expect(secrets.remembered(of("team"))).toEqual(unused("does not exist"));
    expect(secrets.log.lines).toEqual([]);
  });

  test("and that may not be read gives none for 5 s, and it is logged once", async () => {
    server.answer = () => refuse(403, 'cannot get resource "secrets"');
    let now = 0;
    const secrets = reader(() => now);
    expect((await secrets.read(of("team", "other"), LONG_MS)).unused).toHaveLength(2);
    now = 5000;
    expect(secrets.remembered(of("team"))).toEqual(unused("cannot be read from the API server (403)"));
    now = 5001;
    expect(secrets.remembered(of("team"))).toBeUndefined();
    expect(secrets.log.lines).toMatchObject([
      { level: "warn", message: "cannot read the Secrets of pods", fields: { reason: expect.stringContaining("403") } },
    ]);
  });
});

test("Secrets that are read in time count, and the others for the next look-up", async () => {
  put("fast", "fast.example.com");
  put("slow", "slow.example.com");
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.answer = (request) => (request.url.endsWith("slow") ? promise : undefined);
  const secrets = reader();
  await secrets.read(of("fast"), LONG_MS);
  const pulled = await secrets.read(of("fast", "slow"), 10);
  expect(registriesIn(pulled)).toEqual([["fast.example.com"]]);
  expect(pulled).toMatchObject({
    unused: ['the API server did not give the Secret "slow" within 10ms'],
    isLate: true,
  });
  const again = secrets.read(of("slow"), LONG_MS);
  resolve(undefined);
  expect(registriesIn(await again)).toEqual([["slow.example.com"]]);
  expect(server.requests).toHaveLength(2);
});

test("at most four Secrets are read at a time", async () => {
  const names = Array.from({ length: 10 }, (_, at) => `s${at}`);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.answer = () => promise;
  const reading = reader().read(of(...names), LONG_MS);
  await until("four are asked for", () => server.requests.length >= 4);
  await never("a fifth is asked for", () => server.requests.length > 4, 20);
  resolve(undefined);
  await reading;
  expect(server.requests).toHaveLength(10);
});

test("at most 4 MiB of Secrets are remembered: the oldest is forgotten", async () => {
  const data = { ".dockerconfigjson": Buffer.from(`{"auths":{}}${" ".repeat(90_000)}`).toString("base64") };
  const names = Array.from({ length: 50 }, (_, at) => `s${at}`);
  for (const name of names) put(name, "registry.example.com", { data });
  const secrets = reader();
  for (const name of names) await secrets.read(of(name), LONG_MS);
  const isKnown = (name: string | undefined) => secrets.remembered(of(name as string)) !== undefined;
  expect([isKnown(names.at(-1)), isKnown(names[0])]).toEqual([true, false]);
  expect(names.filter(isKnown)).toHaveLength(Math.floor((4 * 1024 * 1024) / (120_016 + 1024)));
});

test("a malformed namespace gives no path", async () => {
  const secrets = reader();
  expect((await secrets.read({ namespace: "a/../b", names: ["team"] }, LONG_MS)).auths).toEqual([]);
  expect(server.requests).toEqual([]);
});
