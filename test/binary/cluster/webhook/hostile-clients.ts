import { expect } from "bun:test";
import { reviewOf, type Webhook } from "./webhook.ts";

export const body = JSON.stringify(reviewOf({}));

export const head = (more = "") =>
  `POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${more}`;

export const whole = `${head(`content-length: ${body.length}\r\n`)}\r\n${body}`;

/** Whatever came before, a pod is still changed. */
export async function expectWell(webhook: Webhook): Promise<void> {
  const answer = await webhook.ask();
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"patch":')]);
}

export async function metrics({ health }: Webhook): Promise<string> {
  return await (await fetch(`${health}/metrics`)).text();
}
