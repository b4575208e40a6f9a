import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { type CertificateNews, watchCertificates } from "../../../../src/cluster/certificates/certificates.ts";
import { readSecret } from "../../../../src/cluster/certificates/held.ts";
import type { OwnCertificates } from "../../../../src/cluster/certificates/own-certificates.ts";
import { until } from "../../../harness/ebb.ts";
import { refuse, type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { collectLog } from "../collect-log.ts";
import { apply, CONFIGURATION, SECRET } from "./authority-world.ts";

// Replicas as they run, with their watches, against a stand-in API server: they start at once, and lack a right or the Secret.

interface Running extends AsyncDisposable {
  /** The certificates that it serves, the latest last. */
  readonly served: string[];
  /** Why it has no other, as the probe tells it. */
  problem(): string | undefined;
  readonly log: ReturnType<typeof collectLog>;
}

function start({ api }: StandInApi): Running {
  const own: OwnCertificates = { api, namespace: "ebb", name: "ebb" };
  const stop = new AbortController();
  const log = collectLog();
  const served: string[] = [];
  let problem: string | undefined;
  const take = (news: CertificateNews): void => {
    if ("problem" in news) problem = news.problem;
    else served.push(news.cert);
  };
  const watching = (async () => {
    for await (const news of watchCertificates({ kind: "own", ...own }, { log, signal: stop.signal })) take(news);
  })();
  const end = async () => {
    stop.abort();
    await watching;
  };
  return { served, problem: () => problem, log, [Symbol.asyncDispose]: end };
}

/** An API server with the webhook configuration, and with the Secret if `data` is given. */
function arrange(data?: Readonly<Record<string, string>>): StandInApi {
  const server = startStandInApi();
  apply(server, "");
  if (data !== undefined) install(server, data);
  return server;
}

function install(server: StandInApi, data: Readonly<Record<string, string>> = {}): void {
  server.put(SECRET, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "ebb-certificates", namespace: "ebb" },
    data,
  });
}

const warningsOf = ({ log }: Running) => log.lines.filter(({ level }) => level === "warn");
const serves = ({ served }: Running): boolean => served.length > 0;
const isTrusted = ({ objects }: StandInApi): boolean =>
  Buffer.from(objects.get(CONFIGURATION).webhooks[0].clientConfig.caBundle, "base64").toString() ===
  readSecret(objects.get(SECRET))
    .authorities.map(({ cert }) => cert)
    .join("");

test.each([
  ["an empty Secret", {}, "PUT"],
  ["no Secret", undefined, "POST"],
])("with %s two replicas write at once: both serve what one CA has signed, in silence", async (_, data, verb) => {
  await using server = arrange(data);
  const both = Promise.withResolvers<void>();
  let writes = 0;
  server.answer = async ({ method }) => {
    if (method !== verb) return undefined;
    writes += 1;
    if (writes === 2) both.resolve();
    await both.promise;
    return undefined;
  };
  await using a = start(server);
  await using b = start(server);
  await until("both serve", () => serves(a) && serves(b));
  await until("the API server trusts it", () => isTrusted(server));
  const [authority] = readSecret(server.objects.get(SECRET)).authorities;
  const publicKey = new X509Certificate(authority?.cert as string).publicKey;
  for (const { served } of [a, b])
    expect(served.map((cert) => new X509Certificate(cert).verify(publicKey))).toEqual([true]);
  expect([...warningsOf(a), ...warningsOf(b)]).toEqual([]);
  const created = [a, b].flatMap(({ log }) => log.lines.filter(({ message }) => message === "created a CA"));
  expect(created).toHaveLength(1);
});

const installed = "apply the manifests (or helm upgrade) again";

test("a replica without a Secret that it may not create says so, and fills the one that is installed", async () => {
  await using server = arrange();
  server.answer = ({ method }) =>
    method === "POST" ? refuse(403, 'User "ebb" cannot create resource "secrets"') : undefined;
  await using replica = start(server);
  const reason = `the Secret ebb/ebb-certificates does not exist: ${installed}`;
  await until("the probe tells it", () => replica.problem() === reason);
  expect(warningsOf(replica)).toMatchObject([{ message: "cannot update the certificates", fields: { reason } }]);
  install(server);
  await until("it serves", () => serves(replica));
  expect(replica.problem()).toBeUndefined();
});

test("a replica that may not read the Secret says so, and serves as soon as it may", async () => {
  await using server = arrange({});
  let mayRead = false;
  server.answer = (_, { pathname }) =>
    mayRead || !pathname.endsWith("/secrets") ? undefined : refuse(403, 'User "ebb" cannot list resource "secrets"');
  await using replica = start(server);
  await until("the probe tells it", () => replica.problem()?.includes('User "ebb" cannot list resource "secrets"'));
  expect(warningsOf(replica)).toMatchObject([
    { message: "cannot watch an object: retrying", fields: { reason: replica.problem() } },
  ]);
  mayRead = true;
  await until("it serves", () => serves(replica));
});

test("a Secret that is broken and may not be repaired is told, and the certificate before it is served on", async () => {
  await using server = arrange({});
  await using old = start(server);
  await until("it serves, and is trusted", () => serves(old) && isTrusted(server));
  const hour = { "retry-after": "3600" };
  server.answer = ({ method }) =>
    method === "PUT" ? refuse(403, 'User "ebb" cannot update resource "secrets"', hour) : undefined;
  install(server, { "ca.crt": "bm9uc2Vuc2U=" });
  await using fresh = start(server);
  for (const replica of [old, fresh]) {
    await until("it is told", () => replica.problem()?.includes('cannot update resource "secrets"'));
    expect(warningsOf(replica)).toMatchObject([
      { message: "cannot update the certificates", fields: { reason: replica.problem() } },
    ]);
  }
  expect([old.served.length, fresh.served.length]).toEqual([1, 0]);
  server.answer = undefined;
  install(server); // which ends the hour
  await until("the fresh one serves", () => serves(fresh));
});
