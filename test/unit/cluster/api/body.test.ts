import { expect, test } from "bun:test";
import { createEventReader } from "../../../../src/cluster/api/body.ts";
import { processorMs } from "../../../harness/processor-time.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

test("a line without an end is given up, rather than gathered", () => {
  const reader = createEventReader(100);
  expect([...reader.take(bytesOf("x".repeat(100)))]).toEqual([]);
  expect(() => [...reader.take(bytesOf("x"))]).toThrow("a line of more than 100 characters");
});

test("an event that comes in many pieces is read once", () => {
  const event = { type: "ADDED", object: { metadata: { name: "x".repeat(8_000_000) } } };
  const bytes = bytesOf(`${JSON.stringify(event)}\n`);
  const read = () => {
    const reader = createEventReader(1e8);
    const events: unknown[] = [];
    for (let at = 0; at < bytes.length; at += 1000) events.push(...reader.take(bytes.subarray(at, at + 1000)));
    expect(events).toEqual([event]);
  };
  expect(processorMs(read)).toBeLessThan(5000);
});
