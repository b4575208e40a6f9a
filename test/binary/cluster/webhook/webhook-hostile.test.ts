import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { until } from "../../../harness/ebb.ts";
import { body, expectWell, head, metrics, whole } from "./hostile-clients.ts";
import { json, nonEmpty, pod, said, startLimited, startWebhook, type Webhook } from "./webhook.ts";

describe("a request that is no AdmissionReview", () => {
  test.each<[number, string, string, RequestInit & { readonly path?: string }]>([
    [404, "of another path", "/else: not found", { path: "/else" }],
    [405, "of another method", "expected POST, got GET", { method: "GET", body: null }],
    [415, "of another type", 'got "text/plain"', { headers: { "content-type": "text/plain" } }],
    [400, "that is no JSON", "the body is not JSON", { body: '{"a"' }],
    [413, "that is too big", "at most 100000 bytes", { body: body + " ".repeat(100_000) }],
  ])("is answered with %d: one %s", async (status, _, message, { path, ...init }) => {
    await using webhook = await startLimited({ maxRequestBytes: 100_000 });
    const url = new URL(path ?? "", webhook.url).href;
    const all = { method: "POST", headers: json, body, tls: { ca: webhook.mounted.ca }, ...init };
    const answer = await fetch(url, all);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "text/plain; charset=utf-8"]);
    expect(await answer.text()).toContain(message);
    await expectWell(webhook);
  });

  test("is answered with 413 as soon as its chunks are too big, too", async () => {
    await using webhook = await startLimited({ maxRequestBytes: 100_000 });
    using raw = await webhook.open();
    raw.send(`${head("transfer-encoding: chunked\r\n")}\r\n`);
    const chunk = " ".repeat(0x8000);
    for (let count = 0; count < 4; count += 1) raw.send(`8000\r\n${chunk}\r\n`); // and no last one
    await until("it is refused", () => raw.text() !== "", 30_000);
    expect(raw.text()).toStartWith("HTTP/1.1 413 ");
    await expectWell(webhook);
  });

  test.each([
    ["400", "HELLO\r\n\r\n"],
    ["400", `${head("content-length: 3\r\ntransfer-encoding: chunked\r\n")}\r\n0\r\n\r\n`],
    ["400", `${head("content-length: -1\r\n")}\r\n`],
    ["400", `${head("transfer-encoding: chunked\r\n")}\r\nZZ\r\n`],
    ["431", `${head(`x: ${"a".repeat(40_000)}\r\n`)}\r\n`],
    ["400", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("is answered with %s where it is not even HTTP/1.1: %j", async (status, text) => {
    await using webhook = await startWebhook();
    using raw = await webhook.open();
    raw.send(text);
    await until("it is refused", () => raw.isClosed(), 30_000);
    expect(raw.text()).toStartWith(`HTTP/1.1 ${status} `);
    const [line] = await until("it is logged", () => nonEmpty(said(webhook, "refused a request")), 30_000);
    expect(line).toMatchObject({
      level: "warn",
      from: "127.0.0.1",
      status: Number(status),
      reason: expect.any(String),
    });
    await expectWell(webhook);
  });

  test("of plain HTTP is not answered, and harms nothing", async () => {
    await using webhook = await startWebhook();
    await expect(fetch(`http://127.0.0.1:${webhook.port}/mutate`)).rejects.toThrow();
    await expectWell(webhook);
  });
});

describe("a pod whose texts are as long as may be", () => {
  const [app] = pod.spec.containers;
  const hook = (script: string) => ({ lifecycle: { preStop: { exec: { command: ["sh", "-c", script] } } } });
  const many = (container: object) =>
    Array.from({ length: 100 }, (_, at) => ({ ...app, name: `c${at}`, ...container }));
  const status = JSON.stringify({ containers: Array.from({ length: 25_000 }, (_, at) => `c${at}`) });

  test.each<[string, readonly object[], object?]>([
    ["a hook of a megabyte of blanks", [{ ...app, ...hook(`sleep 1${" ".repeat(1_000_000)}x`) }]],
    ["a hook of 3 MB that asks", [{ ...app, ...hook("curl -X POST ".repeat(230_000)) }]],
    ["a hundred hooks of blanks", many(hook(`sleep 1${" ".repeat(4000)}x`))],
    ["a hundred scripts in scripts", many({ command: ["sh", "-c", "$(".repeat(1300) + ")".repeat(1300)] })],
    ["a hundred lists of URLs", many({ env: [{ name: "EBB_QUIT", value: "http://localhost:1/,".repeat(1500) }] })],
    ["a long annotation of Istio's for a hundred containers", many({}), { "sidecar.istio.io/status": status }],
  ])("holds nobody up: %s", async (_, containers, annotations = {}) => {
    await using webhook = await startWebhook(["--all"]);
    const metadata = { name: "long", annotations };
    const long = webhook.ask({ object: { ...pod, metadata, spec: { containers } } });
    await expectWell(webhook);
    expect(await (await fetch(`${webhook.health}/healthz`)).text()).toBe("ok\n");
    expect(await (await long).text()).toContain('"patch":');
  });
});

describe("a slow request", () => {
  const limits = { requestMs: 300 };

  test.each([
    ["whose head never ends", head()],
    ["whose body never ends", `${head("content-length: 100\r\n")}\r\n{`],
    ["whose chunks never end", `${head("transfer-encoding: chunked\r\n")}\r\n1\r\n{\r\n`],
  ])("is answered with 408: one %s", async (_, text) => {
    await using webhook = await startLimited(limits);
    using raw = await webhook.open();
    raw.send(text);
    await until("it is refused", () => raw.isClosed(), 30_000);
    expect(raw.text()).toContain("HTTP/1.1 408 ");
    await until("a pod is still changed", async () => (await webhook.ask()).status === 200, 30_000);
  });

  test("on a connection that was used before is answered with 408, too", async () => {
    await using webhook = await startLimited(limits);
    using raw = await webhook.open();
    raw.send(whole);
    await until("it is answered", () => raw.text().includes('"patch":'), 30_000);
    raw.send(head());
    await until("it is refused", () => raw.isClosed(), 30_000);
    expect(raw.text()).toContain("HTTP/1.1 408 ");
  });

  test("that drips is not waited for any longer", async () => {
    await using webhook = await startLimited(limits);
    using raw = await webhook.open();
    raw.send(head());
    await until(
      "it is refused",
      () => {
        raw.send("x: y\r\n");
        return raw.isClosed();
      },
      30_000,
      20,
    );
    expect(raw.text()).toStartWith("HTTP/1.1 408 ");
  });

  test("that was refused before its body came is not waited for either", async () => {
    await using webhook = await startLimited(limits);
    using raw = await webhook.open();
    raw.send(`POST /else HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{`);
    await until("it is refused", () => raw.text().startsWith("HTTP/1.1 404 "), 30_000);
    await until("it is closed", () => raw.isClosed(), 30_000);
    expect(raw.text()).not.toContain("408");
    expect(said(webhook, "refused a request").map(({ status }) => status)).toEqual([404]);
  });

  test("is forgotten, however many there were", async () => {
    await using webhook = await startLimited({ ...limits, maxRequestsInFlight: 2 });
    for (let count = 0; count < 3; count += 1) {
      using raw = await webhook.open();
      raw.send(`${head("content-length: 100\r\n")}\r\n{`);
      await until("it is refused", () => raw.isClosed(), 30_000);
    }
    await expectWell(webhook);
    expect(await metrics(webhook)).toContain("ebb_webhook_requests_in_flight 0\n");
    expect(await metrics(webhook)).toContain('ebb_webhook_connections_cut_total{reason="request"} 3\n');
  });

  test("whose client goes away is forgotten", async () => {
    await using webhook = await startWebhook();
    const raw = await webhook.open();
    raw.send(`${head("content-length: 100\r\n")}\r\n{`);
    const inFlight = async () => /^ebb_webhook_requests_in_flight (\d+)$/m.exec(await metrics(webhook))?.[1];
    await until("it is under way", async () => (await inFlight()) === "1", 30_000);
    raw.socket.destroy();
    await until("it is forgotten", async () => (await inFlight()) === "0", 30_000);
    await until("a pod is still changed", async () => (await webhook.ask()).status === 200, 30_000);
  });
});

describe("a pod of 2.7 MB", () => {
  const SIZE = 2_700_000;
  const list = <T>(length: number, of: (at: number) => T) => Array.from({ length }, (_, at) => of(at));
  const [app] = pod.spec.containers;

  test.each<[string, object]>([
    ["a long annotation", { annotations: { "ebb.dev/inject": "x".repeat(SIZE) } }],
    [
      "many annotations",
      { annotations: Object.fromEntries(list(60_000, (at) => [`ebb.dev/${at}${"x".repeat(25)}`, ""])) },
    ],
    ["long variables", { env: list(900, (at) => ({ name: `E${at}`, value: "x".repeat(SIZE / 900) })) }],
    ["many containers", { containers: list(100, (at) => ({ ...app, name: `c${at}`, image: "i".repeat(SIZE / 100) })) }],
    [
      "that start what nobody knows",
      { containers: list(100, (at) => ({ name: `c${at}`, image: "i".repeat(26_000) })) },
    ],
    ["empty lists", { more: list(900, () => Array(990).fill([])) }],
    ["fields that no other has", { more: list(900, (at) => list(250, (one) => ({ [`${at}.${one}`]: 0 }))) }],
  ])(
    "costs at most ten times that, and a short line of the log: one with %s",
    async (_, more) => {
      await using webhook = await startWebhook(["--log-level", "debug"]);
      await webhook.ask();
      const before = peakOf(webhook);
      const { annotations = {}, containers = [{ ...app, ...more }] } = more as Record<string, object>;
      const metadata = { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } };
      const answer = await webhook.ask({ object: { ...pod, metadata, spec: { containers } } });
      expect((await answer.text()).length).toBeLessThan(SIZE);
      expect(peakOf(webhook) - before).toBeLessThan(10 * SIZE);
      await expectWell(webhook);
      const longest = Math.max(
        ...webhook.started
          .stderr()
          .split("\n")
          .map((line) => line.length),
      );
      expect(longest).toBeLessThan(20_000);
    },
    60_000,
  );

  /** The most memory that it had, in bytes. */
  function peakOf({ started }: Webhook): number {
    const status = readFileSync(`/proc/${started.pid}/status`, "utf8");
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  }
});

test.each<[string, object]>([
  ["quantity", { containers: [{ ...pod.spec.containers[0], resources: { limits: { memory: "1".repeat(60_000) } } }] }],
  ["image name", { containers: [{ name: "app", image: `${"a/".repeat(30_000)}:` }] }],
  ["duration", {}],
])("a %s of 60 KB is answered as soon as any other", async (what, spec) => {
  await using webhook = await startWebhook();
  await webhook.ask();
  const duration = what === "duration" ? { "ebb.dev/drain": `${"1".repeat(60_000)}x` } : {};
  const metadata = { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...duration } };
  const start = performance.now();
  const answer = await webhook.ask({ object: { ...pod, metadata, spec: { ...pod.spec, ...spec } } });
  expect(answer.status).toBe(200);
  expect(performance.now() - start).toBeLessThan(4000); // it was 10 to 20 s
});

test("too many requests in progress: the API server is told to ask again in a second", async () => {
  await using webhook = await startLimited({ maxRequestsInFlight: 2, requestMs: 60_000 });
  const held = await Promise.all([webhook.open(), webhook.open()]);
  for (const raw of held) raw.send(`${head(`content-length: ${body.length}\r\n`)}\r\n{`);
  await until("they are under way", async () => (await metrics(webhook)).includes("_in_flight 2\n"), 30_000);
  const answer = await webhook.ask();
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
  for (const raw of held) raw.send(body.slice(1));
  for (const raw of held) await until("it is answered", () => raw.text().startsWith("HTTP/1.1 200 "), 30_000);
  await expectWell(webhook);
  for (const raw of held) raw[Symbol.dispose]();
});

test("requests beyond the memory meant for them are refused in the same way, and the memory is free again afterwards", async () => {
  await using webhook = await startLimited({ maxRequestBytes: 1024 * 1024, requestMs: 60_000 });
  const held = await Promise.all(Array.from({ length: 4 }, () => webhook.open()));
  const most = 1024 * 1024;
  for (const raw of held) raw.send(`${head(`content-length: ${most}\r\n`)}\r\n${" ".repeat(most - 10)}`);
  const status = async () => (await webhook.ask()).status;
  await until("there is no room", async () => (await status()) === 429, 30_000);
  for (const raw of held) raw[Symbol.dispose]();
  await until("there is room", async () => (await status()) === 200, 30_000);
});
