import { expect, test } from "bun:test";
import { createWorkQueue } from "../../../../src/cluster/controller/work-queue.ts";
import { until } from "../../../harness/ebb.ts";
import { never } from "../../../harness/time.ts";

const LONG_MS = 30_000;
const unstopped = new AbortController().signal;

/** A queue whose reconciles end only by `finish`, with the pause until the next one. */
function controlled(concurrency: number) {
  const begun: string[] = [];
  const underWay = new Map<string, (afterMs?: number) => void>();
  const queue = createWorkQueue((key) => {
    begun.push(key);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    if (underWay.has(key)) throw new Error(`${key} is under way twice`);
    underWay.set(key, (afterMs) => {
      underWay.delete(key);
      resolve(afterMs);
    });
    return promise;
  }, concurrency);
  const stop = new AbortController();
  const run = queue.run(stop.signal);
  return {
    queue,
    begun,
    underWay: () => [...underWay.keys()],
    begins: (count: number) => until(`${count} begun`, () => begun.length >= count || undefined, LONG_MS),
    finish: (key: string, afterMs?: number) => underWay.get(key)?.(afterMs),
    async end() {
      stop.abort();
      for (const finish of underWay.values()) finish();
      await run;
    },
  };
}

test("keys have their turns in order, each once, no more at a time than allowed", async () => {
  const { queue, begun, begins, underWay, finish, end } = controlled(2);
  for (const key of ["a", "b", "c", "a"]) queue.add(key);
  await begins(2);
  expect([underWay(), queue.waiting()]).toEqual([
    ["a", "b"],
    ["c", "a"],
  ]);
  finish("b");
  await begins(3);
  expect(underWay()).toEqual(["a", "c"]);
  finish("a");
  await begins(4);
  expect(begun).toEqual(["a", "b", "c", "a"]);
  await end();
});

test("a key that is added while it is reconciled comes again after that, and holds nobody up", async () => {
  const { queue, begun, begins, finish, end } = controlled(2);
  queue.add("a");
  await begins(1);
  for (const key of ["a", "a", "b"]) queue.add(key);
  await begins(2);
  expect(begun).toEqual(["a", "b"]);
  finish("a");
  await begins(3);
  expect(begun).toEqual(["a", "b", "a"]);
  await end();
});

test("a reconcile says when the next one is; an earlier addition comes first, a later one changes nothing", async () => {
  const { queue, begins, begun, finish, end } = controlled(1);
  queue.add("a");
  await begins(1);
  const start = performance.now();
  finish("a", 200);
  await until("it waits", () => queue.waiting().length === 1, LONG_MS);
  queue.add("a", 3_600_000);
  await begins(2);
  expect(performance.now() - start).toBeGreaterThanOrEqual(199);
  finish("a", 3_600_000);
  await until("it waits", () => queue.waiting().length === 1, LONG_MS);
  queue.add("a", 1);
  await begins(3);
  expect(begun).toEqual(["a", "a", "a"]);
  await end();
});

test("the queue drops a forgotten key, and takes it again", async () => {
  const { queue, begins, begun, end } = controlled(1);
  queue.add("a", 10);
  queue.add("b", 40);
  queue.forget("a");
  await begins(1);
  expect(begun).toEqual(["b"]);
  queue.add("a");
  expect(queue.waiting()).toEqual(["a"]);
  await end();
});

test("the queue ends, if that is wanted, once no key is waiting or under way", async () => {
  const times = new Map<string, number>();
  const queue = createWorkQueue(async (key) => {
    times.set(key, (times.get(key) ?? 0) + 1);
    return times.get(key) === 3 ? undefined : 10;
  }, 2);
  for (const key of ["a", "b", "c"]) queue.add(key);
  await queue.run(unstopped, true);
  expect([...times.values()]).toEqual([3, 3, 3]);
});

test("the queue ends when it is told to, after the keys that are under way", async () => {
  const { queue, begun, begins, finish, end } = controlled(1);
  for (const key of ["a", "b"]) queue.add(key);
  await begins(1);
  const ended = end();
  finish("a", 1);
  await ended;
  await never("another begins", () => begun.length > 1, 50);
});

test("a bug in a reconcile is thrown", async () => {
  const queue = createWorkQueue(async () => {
    throw new TypeError("oops");
  }, 1);
  queue.add("a");
  const failed = await queue.run(unstopped).catch((error) => error);
  expect(failed).toEqual(new TypeError("oops"));
});
