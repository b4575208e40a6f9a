import { describe, expect, test } from "bun:test";
import { until } from "../../../harness/ebb.ts";
import { mountCertificate, nonEmpty, reviewOf, said, startLimited, startWebhook, type Webhook } from "./webhook.ts";

const body = JSON.stringify(reviewOf({}));
const head = `POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;

describe("a stop signal", () => {
  test("while requests come without a pause makes not one of them fail, where another replica goes on", async () => {
    await using first = await startWebhook(["--min-drain", "6s"]);
    await using second = await startWebhook([], mountCertificate());
    const replicas = [first, second];
    let isOver = false;
    const load = Array.from({ length: 8 }, (_, at) => askReadyOnes(replicas, at % 2 === 0, () => isOver));
    const counts = Promise.all(load);
    await until("both are asked", async () => (await answered(first)) > 50 && (await answered(second)) > 50, 60_000);
    first.started.kill("SIGTERM");
    const ended = await first.started.ended;
    isOver = true;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect((await counts).every((count) => count > 0)).toBe(true);
    expect(ended.log.at(-1)).toMatchObject({ msg: "ebb: the webhook has shut down", unanswered: 0 });
  }, 120_000);

  test("makes it unready at once, while it goes on accepting, and has each client go elsewhere", async () => {
    await using webhook = await startWebhook(["--min-drain", "1m", "--drain", "2m"]);
    using idle = await webhook.open();
    webhook.started.kill("SIGTERM");
    await until("it is unready", async () => (await status(webhook, "/readyz")) === 503, 30_000);
    expect(await status(webhook, "/healthz")).toBe(200);
    for (let count = 0; count < 3; count += 1) {
      const answer = await webhook.ask();
      expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
    }
    idle.send(`${head}${body}`);
    await until("it is answered and closed", () => idle.text().includes('"patch":') && idle.isClosed(), 30_000);
  });

  test("lets what is under way arrive, and closes what is idle, before it ends with 0", async () => {
    await using webhook = await startLimited({ requestMs: 120_000 }, ["--min-drain", "0", "--drain", "2m"]);
    using slow = await webhook.open();
    using idle = await webhook.open();
    slow.send(`${head}{`);
    await until("it is under way", async () => (await inFlight(webhook)) === "1", 30_000);
    webhook.started.kill("SIGTERM");
    await until("what is idle is closed", () => idle.isClosed(), 30_000);
    await until("nobody is let in any more", () => refused(webhook), 30_000);
    slow.send(body.slice(1));
    const ended = await webhook.started.ended;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(slow.text()).toContain('"patch":');
    expect(ended.log.at(-1)).toMatchObject({ msg: "ebb: the webhook has shut down", unanswered: 0 });
  });

  test("has what is still under way cut when time is out, and says how much that was", async () => {
    await using webhook = await startLimited({ requestMs: 120_000 }, ["--min-drain", "0", "--drain", "300ms"]);
    using slow = await webhook.open();
    slow.send(`${head}{`);
    await until("it is under way", async () => (await inFlight(webhook)) === "1", 30_000);
    webhook.started.kill("SIGTERM");
    const ended = await webhook.started.ended;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(ended.log.at(-1)).toMatchObject({ level: "warn", msg: "ebb: the webhook has shut down", unanswered: 1 });
  });

  test.each(["SIGTERM", "SIGINT"] as const)("that comes twice (%s) ends it at once", async (signal) => {
    await using webhook = await startWebhook(["--min-drain", "10m", "--drain", "20m"]);
    webhook.started.kill("SIGTERM");
    await until("it leaves", () => nonEmpty(said(webhook, "shutting down the webhook")), 30_000);
    webhook.started.kill(signal);
    const ended = await webhook.started.ended;
    expect([ended.code, ended.signal]).toEqual([0, null]);
  });
});

/**
 * Asks on and on, as an API server behind a Service: one of the replicas that are ready. How often it was answered.
 * @throws when a request fails
 */
async function askReadyOnes(replicas: readonly Webhook[], keepalive: boolean, isOver: () => boolean): Promise<number> {
  let count = 0;
  for (; !isOver(); count += 1) {
    const states = await Promise.all(replicas.map((replica) => status(replica, "/readyz")));
    const ready = replicas.filter((_, at) => states[at] === 200);
    const answer = await ready[count % ready.length]?.ask({}, { keepalive });
    if (answer?.status !== 200 || !(await answer.text()).includes('"patch":')) throw new Error(`${answer?.status}`);
  }
  return count;
}

async function status({ health }: Webhook, path: string): Promise<number | undefined> {
  return (await fetch(`${health}${path}`, { keepalive: false }).catch(() => undefined))?.status;
}

async function metrics({ health }: Webhook): Promise<string> {
  return await (await fetch(`${health}/metrics`)).text();
}

async function answered(webhook: Webhook): Promise<number> {
  return Number(/^ebb_webhook_responses_total\{code="200"\} (\d+)$/m.exec(await metrics(webhook))?.[1] ?? 0);
}

async function inFlight(webhook: Webhook): Promise<string | undefined> {
  return /^ebb_webhook_requests_in_flight (\d+)$/m.exec(await metrics(webhook))?.[1];
}

async function refused(webhook: Webhook): Promise<boolean> {
  try {
    using _ = await webhook.open();
    return false;
  } catch {
    return true;
  }
}
