import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { describeSystemError } from "../../../../src/shared/core/system-error.ts";

async function causeOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return describeSystemError(error);
  }
  throw new Error("it did not fail");
}

test.each<[string, () => unknown]>([
  ["no such file or directory", () => readFileSync("/nowhere")],
  ["is a directory", () => readFileSync("/")],
  ["connection refused", () => fetch("http://127.0.0.1:1/")],
  ["no such host", () => fetch("http://nowhere.invalid/")],
])("%s: without the path, the address and the advice of the message", async (words, act) => {
  expect(await causeOf(act)).toBe(words);
});

test.each<[string, string | undefined, string]>([
  [
    'OtherError fetching "https://a/?b=c". For more information, pass `verbose: true` in ...',
    "OtherError",
    "OtherError",
  ],
  ["WebSocket connection to 'wss://a/' failed: Connection ended", "EOTHER", "Connection ended (EOTHER)"],
  ["Unexpected end of JSON input", undefined, "Unexpected end of JSON input"],
])("an error without words here keeps its message %j, and its code %p", (message, code, words) => {
  expect(describeSystemError(Object.assign(new Error(message), { code }))).toBe(words);
});
