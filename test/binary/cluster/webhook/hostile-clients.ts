import { expect } from "bun:test";
import { reviewOf, type Webhook } from "./webhook.ts";

export const body = JSON.stringify(reviewOf({}));

/** Returns the head of a review's request up to the headers in `more`, each of which ends with CRLF. */
export const head = (more = "") =>
  `POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${more}`;

export const whole = `${head(`content-length: ${body.length}\r\n`)}\r\n${body}`;

/** Expects that the webhook still changes a pod. */
export async function expectWell(webhook: Webhook): Promise<void> {
  const answer = await webhook.ask();
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"patch":')]);
}

/** Returns the webhook's metrics, as text. */
export async function metrics({ health }: Webhook): Promise<string> {
  return await (await fetch(`${health}/metrics`)).text();
}
