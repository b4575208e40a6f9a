import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { inParallel, until } from "../../../harness.ts";
import { expectWell, metrics, whole } from "./hostile-clients.ts";
import { startWebhook, type Webhook } from "./webhook.ts";

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
    await using webhook = await startWebhook(["--request-timeout", "300ms"]);
    using client = open(webhook, start);
    await until("it is closed", () => client.isClosed(), 30_000);
    expect(await metrics(webhook)).toContain('ebb_webhook_connections_cut_total{reason="handshake"} 1\n');
    await expectWell(webhook);
  });

  test("is counted, and one that asks stays open however many there are", async () => {
    await using webhook = await startWebhook(["--request-timeout", "10m"]);
    using kept = await webhook.open();
    const clients: ReturnType<typeof open>[] = [];
    try {
      for (let round = 1; round <= 3; round += 1) {
        kept.send(whole);
        await until("it is answered", () => kept.text().split('"patch":').length > round, 30_000);
        for (let count = 0; count < 400; count += 1) clients.push(open(webhook, Buffer.of()));
        const all = Math.min(1000, 1 + clients.length);
        await until("they are there", async () => (await metrics(webhook)).includes(`_connections ${all}\n`), 60_000);
      }
      const cut = /^ebb_webhook_connections_cut_total\{reason="limit"\} 201$/m;
      await until("201 are closed", async () => cut.test(await metrics(webhook)), 60_000);
      await until("they know", () => clients.filter((client) => client.isClosed()).length === 201, 60_000);
      expect(clients.slice(0, 201).every((client) => client.isClosed())).toBe(true);
      expect(kept.isClosed()).toBe(false);
      await expectWell(webhook);
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
    await until("they are forgotten", async () => /_connections [12]\n/.test(await metrics(webhook)), 30_000);
  }, 180_000);
});
