import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { inParallel, until } from "../../../harness/ebb.ts";
import { sumOf } from "../../../harness/metrics.ts";
import { expectWell, metrics, whole } from "./hostile-clients.ts";
import { startLimited, startWebhook, type Webhook } from "./webhook.ts";

test("1,000 idle connections, and more, harm nothing: the ones that have been idle longest go", async () => {
  await using webhook = await startWebhook();
  const numbers = Array.from({ length: 1020 }, (_, at) => at);
  const idle = await inParallel(numbers, () => webhook.open(), 8);
  try {
    const open = async () => Number(/^ebb_webhook_connections (\d+)$/m.exec(await metrics(webhook))?.[1]);
    await until("some are closed", async () => (await open()) <= 1000, 60_000);
    expect(await open()).toBeGreaterThan(900);
    await until("the first is among them", () => idle[0]?.isClosed(), 60_000);
    await expectWell(webhook);
  } finally {
    for (const raw of idle) raw[Symbol.dispose]();
  }
}, 180_000);

describe("a connection without TLS", () => {
  /** The first record of a handshake says how long it is; the rest of it never comes. */
  const starts = [[], [0x16, 3, 1, 2, 0], [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]].map((bytes) => Buffer.from(bytes));

  /** @param start what the client sends, which then waits */
  const open = (webhook: Webhook, start: Buffer) => {
    const socket = connect(webhook.port, "127.0.0.1", () => void socket.write(start));
    let isClosed = false;
    socket
      .on("error", () => undefined)
      .on("close", () => {
        isClosed = true;
      });
    socket.resume(); // so that its end is seen
    return { isClosed: () => isClosed, [Symbol.dispose]: () => void socket.destroy() };
  };

  test.each(starts)("is closed in the time that a request has: %j", async (start) => {
    await using webhook = await startLimited({ requestMs: 300 });
    using client = open(webhook, start);
    await until("it is closed", () => client.isClosed(), 30_000);
    expect(await metrics(webhook)).toContain('ebb_webhook_connections_cut_total{reason="handshake"} 1\n');
    await expectWell(webhook);
  });

  test("is counted, and closes none that has asked, however many there are", async () => {
    await using webhook = await startLimited({ requestMs: 600_000 });
    using kept = await webhook.open();
    kept.send(whole);
    await until("it is answered", () => kept.text().includes('"patch":'), 30_000);
    const clients: ReturnType<typeof open>[] = [];
    const seen = async () => {
      const text = await metrics(webhook);
      return (
        sumOf(text, "ebb_webhook_connections") + sumOf(text, 'ebb_webhook_connections_cut_total\\{reason="limit"\\}')
      );
    };
    try {
      while (clients.length < 1200) {
        // the kernel may forget a client that is not accepted yet and says nothing, if there are more than 500 of them
        clients.push(...Array.from({ length: 100 }, () => open(webhook, Buffer.of())));
        await until("they are accepted", async () => (await seen()) === clients.length + 1, 60_000);
      }
      expect(await metrics(webhook)).toMatch(/^ebb_webhook_connections_cut_total\{reason="limit"\} 201$/m);
      expect(await metrics(webhook)).toContain("ebb_webhook_connections 1000\n");
      await until("they know", () => clients.filter((client) => client.isClosed()).length === 201, 60_000);
      expect(kept.isClosed()).toBe(false);
      await expectWell(webhook);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
    await until("they are forgotten", async () => /_connections [12]\n/.test(await metrics(webhook)), 30_000);
  }, 180_000);
});

test("1,000 connections that have asked keep nobody out: the one whose last request is longest ago goes", async () => {
  await using webhook = await startWebhook();
  const asked = await inParallel(
    Array.from({ length: 1000 }),
    async () => {
      const raw = await webhook.open();
      raw.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await until("it is refused", () => raw.text().startsWith("HTTP/1.1 404 "), 30_000);
      return raw;
    },
    8,
  );
  try {
    for (let count = 0; count < 3; count += 1) {
      using next = await webhook.open();
      next.send(whole);
      await until("it is answered", () => next.text().includes('"patch":'), 30_000);
    }
    await until("it is one of the first", () => asked.slice(0, 8).some((raw) => raw.isClosed()), 30_000);
    expect(asked.slice(8).some((raw) => raw.isClosed())).toBe(false);
  } finally {
    for (const raw of asked) raw[Symbol.dispose]();
  }
}, 180_000);
