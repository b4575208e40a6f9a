import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDelayQueue } from "../../../src/kube/reaper/delay-queue.ts";

const never = new AbortController().signal;

test("keys come in the order of their times, each once, at the earliest of its own", async () => {
  const past = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e", "f"), fc.integer({ min: 1, max: 1000 })));
  await fc.assert(
    fc.asyncProperty(past, async (added) => {
      const queue = createDelayQueue();
      const earliest = new Map<string, number>();
      for (const [key, at] of added) {
        queue.add(key, at);
        earliest.set(key, Math.min(at, earliest.get(key) ?? at));
      }
      expect(queue.size).toBe(earliest.size);
      const times: number[] = [];
      while (queue.size > 0) times.push(earliest.get((await queue.next(never)) as string) as number);
      expect(times).toEqual([...earliest.values()].sort((one, other) => one - other));
    }),
  );
});

test("nothing comes before its time, and what is due earlier wakes who waits", async () => {
  const queue = createDelayQueue();
  const soon = Date.now() + 300;
  queue.add("late", Date.now() + 3_600_000);
  const next = queue.next(never);
  queue.add("soon", soon);
  expect(await next).toBe("soon");
  expect(Date.now()).toBeGreaterThanOrEqual(soon);
  expect(queue.size).toBe(1);
});

test("what was deleted does not come, and may be added anew for later", async () => {
  const queue = createDelayQueue();
  queue.add("a", 1);
  queue.add("b", 2);
  queue.delete("a");
  queue.add("a", 3);
  expect([await queue.next(never), await queue.next(never)]).toEqual(["b", "a"]);
});

test("who waits is let go when the signal is aborted", async () => {
  const stop = new AbortController();
  const next = createDelayQueue().next(stop.signal);
  stop.abort();
  expect(await next).toBeUndefined();
});
