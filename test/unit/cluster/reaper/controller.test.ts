import { expect, test } from "bun:test";
import { createController } from "../../../../src/cluster/reaper/controller.ts";
import { until } from "../../../harness.ts";
import { never } from "../../../time.ts";

const LONG_MS = 30_000;
const unstopped = new AbortController().signal;

/** A controller whose reconciles end only by `finish`, with the pause until the next one. */
function controlled(concurrency: number) {
  const begun: string[] = [];
  const underWay = new Map<string, (afterMs?: number) => void>();
  const controller = createController((key) => {
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
  const run = controller.run(stop.signal);
  return {
    controller,
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
  const { controller, begun, begins, underWay, finish, end } = controlled(2);
  for (const key of ["a", "b", "c", "a"]) controller.add(key);
  await begins(2);
  expect([underWay(), controller.waiting()]).toEqual([
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
  const { controller, begun, begins, finish, end } = controlled(2);
  controller.add("a");
  await begins(1);
  for (const key of ["a", "a", "b"]) controller.add(key);
  await begins(2);
  expect(begun).toEqual(["a", "b"]);
  finish("a");
  await begins(3);
  expect(begun).toEqual(["a", "b", "a"]);
  await end();
});

test("a reconcile says when the next one is; an earlier addition comes first, a later one changes nothing", async () => {
  const { controller, begins, begun, finish, end } = controlled(1);
  controller.add("a");
  await begins(1);
  const start = performance.now();
  finish("a", 200);
  await until("it waits", () => controller.waiting().length === 1, LONG_MS);
  controller.add("a", 3_600_000);
  await begins(2);
  expect(performance.now() - start).toBeGreaterThanOrEqual(199);
  finish("a", 3_600_000);
  await until("it waits", () => controller.waiting().length === 1, LONG_MS);
  controller.add("a", 1);
  await begins(3);
  expect(begun).toEqual(["a", "a", "a"]);
  await end();
});

test("what is forgotten does not come, and may be added anew", async () => {
  const { controller, begins, begun, end } = controlled(1);
  controller.add("a", 10);
  controller.add("b", 40);
  controller.forget("a");
  await begins(1);
  expect(begun).toEqual(["b"]);
  controller.add("a");
  expect(controller.waiting()).toEqual(["a"]);
  await end();
});

test("it ends once nothing is left, if that is wanted: neither waiting nor under way", async () => {
  const times = new Map<string, number>();
  const controller = createController(async (key) => {
    times.set(key, (times.get(key) ?? 0) + 1);
    return times.get(key) === 3 ? undefined : 10;
  }, 2);
  for (const key of ["a", "b", "c"]) controller.add(key);
  await controller.run(unstopped, true);
  expect([...times.values()]).toEqual([3, 3, 3]);
});

test("it ends when it is told to, after what is under way", async () => {
  const { controller, begun, begins, finish, end } = controlled(1);
  for (const key of ["a", "b"]) controller.add(key);
  await begins(1);
  const ended = end();
  finish("a", 1);
  await ended;
  await never("another begins", () => begun.length > 1, 50);
});

test("a bug is thrown", async () => {
  const controller = createController(async () => {
    throw new TypeError("oops");
  }, 1);
  controller.add("a");
  const failed = await controller.run(unstopped).catch((error) => error);
  expect(failed).toEqual(new TypeError("oops"));
});
