import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ebb, inParallel, type StartOptions, temporaryFolder, until } from "../../../harness/ebb.ts";
import { type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import {
  type Behaviour,
  Content,
  caPem,
  type Got,
  refusal,
  type StandInRegistry,
  startStandIn,
} from "../../../unit/cluster/image/stand-in-registry.ts";
import { limitedTo } from "../limited.ts";
import { metrics } from "./hostile-clients.ts";
import {
  json,
  kubeconfigOf,
  type Mounted,
  mountCertificate,
  nonEmpty,
  pod,
  said,
  startWebhook,
  type Webhook,
} from "./webhook.ts";

const content = new Content();
content.add("team/report:1", { config: { Entrypoint: ["/report"], Cmd: ["--all"] } });

interface Answer {
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  /** The operations of its patch, as text. */
  readonly patch: string;
}

const jobOf = (image: string, more: object = {}) => ({
  ...pod,
  spec: { restartPolicy: "Never", containers: [{ name: "app", image }], ...more },
});

/** Asks about a pod as an API server that waits for `timeout`. */
async function ask(webhook: Webhook, object: object, timeout = "10s"): Promise<Answer> {
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "7d0c",
      kind: { group: "", version: "v1", kind: "Pod" },
      namespace: "shop",
      operation: "CREATE",
      object,
    },
  });
  const init = { method: "POST", headers: json, body, tls: { ca: webhook.mounted.ca } };
  const answer = await fetch(`${webhook.url}?timeout=${timeout}`, init);
  expect(answer.status).toBe(200);
  const { response } = (await answer.json()) as { response: Answer };
  return { ...response, patch: Buffer.from(response.patch ?? "", "base64").toString() };
}

/** Starts a webhook that may ask this registry, whose CA it knows. */
async function startAsking(
  registry: Pick<StandInRegistry, "host">,
  flags: readonly string[] = [],
  options: StartOptions = {},
) {
  const folder = temporaryFolder();
  const ca = join(folder.path, "ca.crt");
  await Bun.write(ca, caPem);
  const mounted = mountCertificate();
  const both: Mounted = {
    ...mounted,
    [Symbol.dispose]() {
      mounted[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
  return await startWebhook(["--registries", registry.host, "--ca-file", ca, ...flags], both, options);
}

/** Returns the number of look-ups with this result. */
async function counted(webhook: Webhook, result: string): Promise<number> {
  const line = new RegExp(`^ebb_webhook_image_lookups_total\\{result="${result}"\\} (\\d+)$`, "m");
  return Number(line.exec(await metrics(webhook))?.[1]);
}

test("a pod of an image that only the registry knows starts it under ebb, and the next one asks nobody", async () => {
  await using registry = startStandIn(content);
  await using webhook = await startAsking(registry);
  const image = `${registry.host}/team/report:1`;
  expect((await ask(webhook, jobOf(image))).patch).toContain('["/ebb.dev/ebb","run","--","/report","--all"]');
  expect(registry.take()).not.toEqual([]);
  expect((await ask(webhook, jobOf(image))).patch).toContain('"/report"');
  expect(registry.take()).toEqual([]);
  expect([await counted(webhook, "found"), await counted(webhook, "known")]).toEqual([1, 1]);
  const lines = await until("both are logged", () => {
    const found = said(webhook, "injected ebb into a pod");
    return found.length === 2 && found;
  });
  expect(lines.map(({ lookedUp }) => lookedUp)).toEqual([1, undefined]);
});

describe("a registry that fails costs a pod its wrapper, and the warning has cause and remedy", () => {
  test("401", async () => {
    const words = /401.*imagePullSecrets/;
    await using registry = startStandIn(content, () => refusal(401, "UNAUTHORIZED", "authentication required"));
    await using webhook = await startAsking(registry);
    const image = `${registry.host}/team/report:1`;
    const { allowed, warnings, patch } = await ask(webhook, jobOf(image));
    expect([allowed, patch]).toEqual([true, expect.stringContaining("/ebb.dev~1status")]);
    expect(warnings).toEqual([expect.stringMatching(words)]);
    expect(await counted(webhook, "unauthorized")).toBe(1);
    const { patch: ofDeployment } = await ask(webhook, jobOf(image, { restartPolicy: "Always" }));
    expect(ofDeployment).toContain('"drain"');
    const [line] = await until("it is logged", () => nonEmpty(said(webhook, "created a pod without ebb")));
    expect(line).toMatchObject({ level: "warn", reason: expect.stringMatching(words) });
  });

  test("an unknown CA", async () => {
    await using registry = startStandIn(content);
    await using webhook = await startWebhook(["--registries", registry.host]);
    const { allowed, warnings } = await ask(webhook, jobOf(`${registry.host}/team/report:1`));
    expect([allowed, warnings]).toEqual([true, [expect.stringMatching(/certificate.*--ca-file/)]]);
    expect(await counted(webhook, "untrusted")).toBe(1);
  });

  test("a registry that is gone", async () => {
    const registry = { host: "127.0.0.1:1" };
    await using webhook = await startAsking(registry);
    const { allowed, warnings } = await ask(webhook, jobOf(`${registry.host}/team/report:1`));
    expect([allowed, warnings]).toEqual([true, [expect.stringMatching(/cannot be reached.*network/)]]);
    expect(await counted(webhook, "unreachable")).toBe(1);
  });
});

describe("a registry that does not answer", () => {
  const silent: Behaviour = () => new Promise<never>(() => undefined);

  test("is waited for once for an image, for a third of the API server's limit", async () => {
    await using registry = startStandIn(content, silent);
    await using webhook = await startAsking(registry);
    const start = performance.now();
    const { allowed, warnings } = await ask(webhook, jobOf(`${registry.host}/a`), "3s");
    const waitedMs = performance.now() - start;
    expect([allowed, warnings]).toEqual([true, [expect.stringMatching(/did not answer within .*mirror/)]]);
    expect(waitedMs).toBeGreaterThan(900);
    expect(waitedMs).toBeLessThan(2500);
    registry.take();
    expect((await ask(webhook, jobOf(`${registry.host}/a`), "3s")).warnings?.[0]).toMatch(/did not answer/);
    expect(registry.take()).toEqual([]);
    expect((await ask(webhook, jobOf(`${registry.host}/b`), "3s")).warnings?.[0]).toMatch(/did not answer/);
    expect(registry.take()).toEqual(["GET /v2/b/manifests/latest"]);
    expect(await counted(webhook, "timeout")).toBe(3);
  });

  test("for 20 images answers for all others at once, and so does another registry", async () => {
    const many = new Content();
    const good = Array.from({ length: 25 }, (_, at) => `good-${at}`);
    for (const name of good) many.add(`${name}:latest`, { config: { Entrypoint: [`/${name}`] } });
    const hanging: Behaviour = ({ line }) =>
      line.includes("/hang-") ? new Promise<never>(() => undefined) : undefined;
    await using registry = startStandIn(many, hanging);
    await using other = startStandIn(many);
    await using webhook = await startAsking({ host: `${registry.host},${other.host}` });
    const stuck = Array.from({ length: 20 }, (_, at) => ask(webhook, jobOf(`${registry.host}/hang-${at}`), "30s"));
    await until("all that hang are asked for", () => registry.got.length === 20 || undefined);
    const start = performance.now();
    const names = good.flatMap((name) => [`${registry.host}/${name}`, `${other.host}/${name}`]);
    const answers = await inParallel(names, (name) => ask(webhook, jobOf(name), "30s"), 8); // all their handshakes at once may be late
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(answers.map(({ patch }, at) => patch.includes(`"/good-${Math.floor(at / 2)}"`))).toEqual(
      names.map(() => true),
    );
    for (const { allowed, warnings } of await Promise.all(stuck))
      expect([allowed, warnings?.[0]]).toEqual([true, expect.stringMatching(/did not answer within (9\.\d|10)s/)]);
  }, 60_000);

  test("keeps no other pod waiting, and the webhook answers before it leaves", async () => {
    await using registry = startStandIn(content, silent);
    await using webhook = await startAsking(registry, ["--min-drain", "0"], limitedTo({ requestMs: 300 }));
    const waiting = ask(webhook, jobOf(`${registry.host}/a`), "6s");
    await until("the registry is asked", () => registry.got.length > 0 || undefined);
    expect((await ask(webhook, pod)).patch).toContain('"/ebb.dev/ebb"');
    webhook.started.kill("SIGTERM");
    expect((await waiting).allowed).toBe(true);
    expect((await webhook.started.ended).code).toBe(0);
  });
});

describe("credentials", () => {
  const password = "not to be seen";
  const header = `Basic ${Buffer.from(`u:${password}`).toString("base64")}`;
  const priv: Behaviour = ({ authorization }) =>
    authorization === header
      ? undefined
      : new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
  const configOf = (host: string) => JSON.stringify({ auths: { [host]: { username: "u", password } } });

  const typed = (name: string, type: string, key: string, text: string) => ({
    kind: "Secret",
    metadata: { name, namespace: "shop" },
    type,
    data: { [key]: Buffer.from(text).toString("base64") },
  });
  const jsonType = "kubernetes.io/dockerconfigjson";

  /** Starts a webhook that reads Secrets, and resolves with what it says of a pod that names some. */
  async function startReading(registry: StandInRegistry, api: StandInApi) {
    const folder = temporaryFolder();
    const kubeconfig = join(folder.path, "kubeconfig");
    await Bun.write(kubeconfig, kubeconfigOf(api.url));
    const webhook = await startAsking(registry, ["--pull-secrets", "--kubeconfig", kubeconfig]);
    const image = `${registry.host}/team/report:1`;
    const askWith = (names: readonly string[], timeout = "10s") =>
      ask(webhook, jobOf(image, { imagePullSecrets: names.map((name) => ({ name })) }), timeout);
    return Object.assign(webhook, {
      askWith,
      async [Symbol.asyncDispose]() {
        await webhook.started[Symbol.asyncDispose]();
        webhook.mounted[Symbol.dispose]();
        folder[Symbol.dispose]();
      },
    });
  }

  test("are those of the Secret that the pod names, with --pull-secrets", async () => {
    await using registry = startStandIn(content, priv);
    await using api = startStandInApi();
    const path = "/api/v1/namespaces/shop/secrets/";
    api.put(`${path}team`, typed("team", jsonType, ".dockerconfigjson", configOf(registry.host)));
    await using webhook = await startReading(registry, api);
    expect((await webhook.askWith(["team", "none"])).patch).toContain('"/report"');
    expect(api.requests).toEqual(["team", "none"].map((name) => `GET ${path}${name}`));
    const other = await webhook.askWith([]);
    expect(other.warnings?.[0]).toContain("401"); // nobody learns of an image by the Secret of somebody else
    const seen = `${webhook.started.stderr()}${await metrics(webhook)}${JSON.stringify(other)}`;
    for (const secret of [password, header.slice(6)]) expect(seen).not.toContain(secret);
  });

  test("are those of a Secret of Docker's old type, too; a Secret that is not used is named with the reason", async () => {
    await using registry = startStandIn(content, priv);
    await using api = startStandInApi();
    const path = "/api/v1/namespaces/shop/secrets/";
    const entries = JSON.stringify({ [registry.host]: { auth: btoa(`u:${password}`) } });
    api.put(`${path}old`, typed("old", "kubernetes.io/dockercfg", ".dockercfg", entries));
    api.put(`${path}opaque`, typed("opaque", "Opaque", ".dockercfg", entries));
    api.put(`${path}broken`, typed("broken", jsonType, ".dockerconfigjson", "{"));
    api.put(`${path}large`, typed("large", jsonType, ".dockerconfigjson", " ".repeat(97 * 1024)));
    await using webhook = await startReading(registry, api);
    expect((await webhook.askWith(["old"])).patch).toContain('"/report"');
    for (const [name, why] of [
      ["none", "does not exist"],
      ["opaque", "is of the type Opaque: expected one of kubernetes.io/dockerconfigjson"],
      ["broken", "is malformed"],
      ["large", "has more than 96 KiB"],
    ] as const) {
      const { allowed, warnings, patch } = await webhook.askWith([name]);
      expect([allowed, warnings?.[0]]).toEqual([true, expect.stringContaining(`the Secret "${name}" ${why}`)]);
      expect(patch).toContain(`the Secret \\\\\\"${name}\\\\\\" ${why}`);
    }
  });

  test("that the API server does not give in time are named, and no registry is blamed", async () => {
    await using registry = startStandIn(content, priv);
    await using api = startStandInApi();
    api.answer = () => new Promise<never>(() => undefined);
    await using webhook = await startReading(registry, api);
    const { allowed, warnings } = await webhook.askWith(["slow"], "3s");
    const why = /the API server did not give the Secret "slow" within \d/;
    expect([allowed, warnings?.[0]]).toEqual([true, expect.stringMatching(why)]);
    expect(warnings?.[0]).not.toContain(registry.host);
    expect(registry.got).toEqual([]);
  });

  test("are in nothing that is said, also if the registry repeats them", async () => {
    const repeating: Behaviour = ({ authorization = "" }) => {
      if (authorization === "") return priv({ authorization } as Got, registry);
      const decoded = Buffer.from(authorization.slice(6), "base64").toString();
      return refusal(403, "DENIED", `you sent ${authorization}, which is ${decoded}, or ${password}`);
    };
    const registry = startStandIn(content, repeating);
    await using _ = registry;
    using folder = temporaryFolder();
    const config = join(folder.path, "config.json");
    await Bun.write(config, configOf(registry.host));
    await using webhook = await startAsking(registry, ["--registry-config", config]);
    const answer = await ask(webhook, jobOf(`${registry.host}/team/report:1`));
    expect(answer.patch).toContain("it says: DENIED: you sent Basic ***, which is ***, or ***");
    await until("it is logged", () => nonEmpty(said(webhook, "created a pod without ebb")));
    const ca = join(folder.path, "ca.crt");
    await Bun.write(ca, caPem);
    const flags = ["--ca-file", ca, "--registry-config", config];
    const shown = await ebb(["image", ...flags, `${registry.host}/team/report:1`]);
    expect([shown.code, shown.stderr]).toEqual([69, expect.stringContaining("you sent Basic ***")]);
    const seen = `${JSON.stringify(answer)}${webhook.started.stderr()}${shown.stderr}`;
    for (const secret of [password, header.slice(6)]) expect(seen).not.toContain(secret);
  });

  test("are those of --registry-config, also if the file changes", async () => {
    await using registry = startStandIn(content, priv);
    using folder = temporaryFolder();
    const config = join(folder.path, ".dockerconfigjson");
    await Bun.write(config, "{}");
    await using webhook = await startAsking(registry, ["--registry-config", config]);
    content.add("team/cleanup:1", { config: { Entrypoint: ["/cleanup"] } });
    expect((await ask(webhook, jobOf(`${registry.host}/team/report:1`))).warnings?.[0]).toContain("401");
    await Bun.write(config, configOf(registry.host));
    expect((await ask(webhook, jobOf(`${registry.host}/team/cleanup:1`))).patch).toContain('"/cleanup"');
  });
});
